package io.streamtable.codec;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;

/** Leaves rows out that lack a value they must have, and counts them. */
public final class DroppedNulls implements Serializable {
  /** The count's name. */
  public static final String NAME = "nullsDropped";

  private final Counters counters;

  private DroppedNulls(Counters counters) {
    this.counters = counters;
  }

  /** Whether a row stays, by whether it lacks a value. */
  public static Column stays(Counters counters, Column lacks) {
    DroppedNulls target = new DroppedNulls(counters);
    return Columns.invoke(
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
