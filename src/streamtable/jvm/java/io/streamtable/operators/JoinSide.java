package io.streamtable.operators;

import java.io.Serializable;
import java.util.Iterator;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.types.StructType;

/** The rows of one input of a join that share a join key, in state. */
interface JoinSide extends Serializable {
  /**
   * A row that is there.
   *
   * @param count how often
   * @param matches how many rows of the other input it meets, where that is counted
   */
  record Entry(Row row, long count, long matches) {}

  /**
   * The layout that fits what is known about the rows.
   *
   * @param key positions of columns that tell the rows of one join key apart; empty where there is
   *     one row at most, null where equal rows may come twice
   */
  static JoinSide of(StructType schema, int[] key) {
    if (key == null) {
      return new CountedSide(schema);
    }
    return key.length == 0 ? new SingleSide(schema) : new KeyedSide(schema, key);
  }

  void open(StatefulProcessorHandle handle, String name);

  /** Comes to another join key. */
  default void begin() {}

  boolean isEmpty();

  /** Every row; nothing may be changed before the last one was taken. */
  Iterator<Entry> entries();

  /** The row that is there under the key of this one, null for none; not without a key. */
  Row find(Row row);

  /** Adds a row `by` times. */
  void add(Row row, long by, long matches);

  /** Takes a row back up to `by` times; returns how often it was there to be taken. */
  long remove(Row row, long by);

  /** Writes a row down anew that is there, so that it expires later. */
  void refresh(Row row);

  /** Writes down anew how many rows an entry meets. */
  void count(Entry entry, long matches);
}
