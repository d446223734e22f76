package io.streamtable.lookup;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;

/** Finds rows of a {@link LookupTable} for one task. */
public interface LookupReader extends AutoCloseable {
  /**
   * Returns the rows with a key, in the column order of the table.
   *
   * @param key the values of the key columns, none of them null
   */
  List<InternalRow> find(InternalRow key);

  /** Releases the connection. Called at the end of the task, also after a failure. */
  @Override
  void close();
}
