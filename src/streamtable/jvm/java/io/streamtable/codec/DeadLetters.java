package io.streamtable.codec;

import java.io.Serializable;

/** Takes the records that cannot be read; the task that hands one over fails if it gets lost. */
@FunctionalInterface
public interface DeadLetters extends Serializable {
  /**
   * Keeps a record.
   *
   * @param part `key` or `value`, the one that does not parse
   * @param reason what is wrong with it, in one line
   */
  void take(SourceRecord record, String part, String reason);
}
