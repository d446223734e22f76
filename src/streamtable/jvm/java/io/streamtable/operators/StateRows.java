package io.streamtable.operators;

import org.apache.spark.sql.Row;

/** A processor that can emit the row of a group from its state alone. */
public interface StateRows {
  /** Returns the insert of the current group, which has state. */
  Row current(Row key);
}
