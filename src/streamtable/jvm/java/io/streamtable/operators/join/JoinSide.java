package io.streamtable.operators.join;

import io.streamtable.operators.row.Values;
import java.io.Serializable;
import java.util.Iterator;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.types.StructType;

/** State with the rows of one input of a join that share a join key. */
interface JoinSide extends Serializable {
  /**
   * A stored row.
   *
   * @param count number of equal rows
   * @param matches number of matching rows of the other input, if it is counted
   */
  record Entry(Row row, long count, long matches) {}

  /**
   * Returns the state layout for the known properties of the rows.
   *
   * @param key positions of columns that identify a row within a join key; empty if there is at
   *     most one row, null if equal rows may occur
   * @param appends whether rows without a key are only added, and their matches are not counted
   */
  static JoinSide of(StructType schema, int[] key, boolean appends) {
    if (key == null) {
      return new ReadOnceSide(appends ? new AppendedSide(schema) : new CountedSide(schema));
    }
    return key.length == 0
        ? new SingleSide(schema)
        : new ReadOnceSide(new KeyedSide(schema, key));
  }

  void open(StatefulProcessorHandle handle, String name);

  /** Moves to another join key. */
  default void begin() {}

  /** Returns whether an added row is looked for, unless {@link #allNew} was called. */
  default boolean looksForAdded() {
    return false;
  }

  /** Notes that the join key has no rows, and that no row will be added twice in this call. */
  default void allNew() {}

  boolean isEmpty();

  /** Returns all rows. The state must not change before the last row was read. */
  Iterator<Entry> entries();

  /** Returns the stored row with the key of this row, or null. Requires a key. */
  default Row find(Row row) {
    throw new IllegalStateException("rows without a key are not looked for");
  }

  /** Returns how often a row is stored. */
  default long copies(Row row) {
    return Values.same(find(row), row) ? 1 : 0;
  }

  /** Adds a row `by` times. */
  void add(Row row, long by, long matches);

  /** Removes a row up to `by` times. Returns how often it was removed. */
  long remove(Row row, long by);

  /** Writes a stored row again, so that it expires later. */
  void refresh(Row row);

  /** Stores the number of matches of an entry. */
  void count(Entry entry, long matches);
}
