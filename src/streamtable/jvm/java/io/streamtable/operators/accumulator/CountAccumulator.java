package io.streamtable.operators.accumulator;

import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;

/** COUNT of values. For COUNT(*) the processor passes a value for every row. */
public final class CountAccumulator implements Accumulator {
  private final long most;
  private long count;

  /** @param most the largest result */
  public CountAccumulator(long most) {
    this.most = most;
  }

  @Override
  public List<StructField> columns(String name) {
    return List.of(DataTypes.createStructField(name + "_count", DataTypes.LongType, true));
  }

  @Override
  public List<StructField> partialColumns(String name) {
    return columns(name);
  }

  @Override
  public Partial partial() {
    return new Partial() {
      private long grown;

      @Override
      public void add(Object value, int sign) {
        grown += sign;
      }

      @Override
      public void export(Object[] row, int at) {
        row[at] = grown;
      }
    };
  }

  @Override
  public void merge(Row row, int at) {
    count += row.getLong(at);
  }

  @Override
  public void load(Object[] state, int at) {
    count = state[at] == null ? 0 : (Long) state[at];
  }

  @Override
  public void add(Object value, int sign) {
    count += sign;
  }

  @Override
  public void store(Object[] state, int at) {
    state[at] = count;
  }

  @Override
  public Object result() {
    return Math.min(most, count);
  }
}
