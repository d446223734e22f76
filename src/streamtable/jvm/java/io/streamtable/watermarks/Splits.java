package io.streamtable.watermarks;

import java.util.Set;

/**
 * The splits of a source, such as the partitions of a topic. The driver requests them while a query
 * runs. Each split has an id that never changes. Any thread may call the methods.
 */
public interface Splits extends AutoCloseable {
  /**
   * Returns the ids of splits with records after a position.
   *
   * @param reached the position, as the source writes it into a checkpoint
   */
  Set<String> unread(String reached);

  @Override
  void close();
}
