package io.streamtable.operators.accumulator;

import io.streamtable.operators.row.Values;
import java.util.List;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;

/**
 * RANK and DENSE_RANK of the last row, of rows in order. The values are the columns of ORDER BY.
 */
public final class RankAccumulator implements Accumulator {
  private final DataType type;
  private final boolean dense;
  private long rows;
  private long rank;
  private Object last;

  public RankAccumulator(DataType type, boolean dense) {
    this.type = type;
    this.dense = dense;
  }

  @Override
  public boolean ordered() {
    return true;
  }

  @Override
  public List<StructField> columns(String name) {
    return List.of(
        DataTypes.createStructField(name + "_rows", DataTypes.LongType, true),
        DataTypes.createStructField(name + "_rank", DataTypes.LongType, true),
        DataTypes.createStructField(name + "_last", type, true));
  }

  @Override
  public void load(Object[] state, int at) {
    rows = state[at] == null ? 0 : (Long) state[at];
    rank = state[at + 1] == null ? 0 : (Long) state[at + 1];
    last = state[at + 2];
  }

  @Override
  public void add(Object value, int sign) {
    rows++;
    if (last == null || !Values.same(last, value)) {
      rank = dense ? rank + 1 : rows;
      last = value;
    }
  }

  @Override
  public void store(Object[] state, int at) {
    state[at] = rows;
    state[at + 1] = rank;
    state[at + 2] = last;
  }

  @Override
  public Object result() {
    return rank;
  }
}
