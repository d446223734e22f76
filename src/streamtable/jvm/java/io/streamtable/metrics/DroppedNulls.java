package io.streamtable.metrics;

import io.streamtable.expressions.MethodCall;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;

/** Drops and counts rows that have NULL in a NOT NULL column. */
public final class DroppedNulls implements Serializable {
  /** The counter's name. */
  public static final String NAME = "nullsDropped";

  private final Counters counters;

  private DroppedNulls(Counters counters) {
    this.counters = counters;
  }

  /** Returns a condition that is false, and counts the row, if the row lacks a value. */
  public static Column stays(Counters counters, Column lacks) {
    DroppedNulls target = new DroppedNulls(counters);
    return MethodCall.column(
        target, DroppedNulls.class, "stays", DataTypes.BooleanType, List.of(lacks));
  }

  /** Called by generated code. */
  public boolean stays(boolean lacks) {
    if (lacks) {
      counters.add(NAME, 1);
    }
    return !lacks;
  }
}
