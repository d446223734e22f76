package io.streamtable.operators.join.side;

import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.types.StructType;

/** A side of a join with a state of its own. */
public interface StoredSide extends JoinSide {
  /**
   * Returns the state layout for the known properties of the rows.
   *
   * @param key positions of columns that identify a row within a join key; empty if there is at
   *     most one row, null if equal rows may occur
   * @param appends whether rows without a key are only added, and their matches are not counted
   */
  static StoredSide of(StructType schema, int[] key, boolean appends) {
    if (key == null) {
      return new ReadOnceSide(appends ? new AppendedSide(schema) : new CountedSide(schema));
    }
    return key.length == 0
        ? new StoredRow(schema)
        : new ReadOnceSide(new KeyedSide(schema, key));
  }

  void open(StatefulProcessorHandle handle, String name);

  /** Moves to another join key. */
  default void begin() {}
}
