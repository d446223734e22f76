package io.streamtable.operators.join.side;

import io.streamtable.operators.row.Values;
import java.io.Serializable;
import java.util.Iterator;
import org.apache.spark.sql.Row;

/** State with the rows of one input of a join that share a join key. */
public interface JoinSide extends Serializable {
  /**
   * A stored row.
   *
   * @param count number of equal rows
   * @param matches number of matching rows of the other input, if it is counted
   */
  record Entry(Row row, long count, long matches) {}

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
