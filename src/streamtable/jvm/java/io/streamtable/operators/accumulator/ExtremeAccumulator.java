package io.streamtable.operators.accumulator;

import io.streamtable.operators.row.Values;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;

/** MIN or MAX over append-only input. The state is the extreme itself. */
public final class ExtremeAccumulator implements Accumulator {
  private final DataType type;
  private final boolean max;
  private Object extreme;

  public ExtremeAccumulator(DataType type, boolean max) {
    this.type = type;
    this.max = max;
  }

  @Override
  public List<StructField> columns(String name) {
    return List.of(DataTypes.createStructField(name + "_extreme", type, true));
  }

  @Override
  public List<StructField> partialColumns(String name) {
    return columns(name);
  }

  @Override
  public Partial partial() {
    return new Partial() {
      private Object best;

      @Override
      public void add(Object value, int sign) {
        if (best == null || beats(value, best, max)) {
          best = value;
        }
      }

      @Override
      public void export(Object[] row, int at) {
        row[at] = best;
      }
    };
  }

  @Override
  public void merge(Row row, int at) {
    if (!row.isNullAt(at)) {
      add(row.get(at), 1);
    }
  }

  @Override
  public void load(Object[] state, int at) {
    extreme = state[at];
  }

  @Override
  public void add(Object value, int sign) {
    if (extreme == null || beats(value, extreme, max)) {
      extreme = value;
    }
  }

  @Override
  public void store(Object[] state, int at) {
    state[at] = extreme;
  }

  @Override
  public Object result() {
    return extreme;
  }

  /** Returns whether the value is smaller (MIN) or larger (MAX) than the other. */
  public static boolean beats(Object value, Object other, boolean max) {
    int order = Values.compare(value, other);
    return max ? order > 0 : order < 0;
  }
}
