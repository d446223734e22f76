package io.streamtable.operators.accumulator;

import java.util.List;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;

/** FIRST_VALUE or LAST_VALUE over append-only input. The state is that single value. */
public final class EdgeAccumulator implements Accumulator {
  private final DataType type;
  private final boolean last;
  private Object edge;

  public EdgeAccumulator(DataType type, boolean last) {
    this.type = type;
    this.last = last;
  }

  @Override
  public boolean ordered() {
    return true;
  }

  @Override
  public List<StructField> columns(String name) {
    return List.of(DataTypes.createStructField(name + "_edge", type, true));
  }

  @Override
  public void load(Object[] state, int at) {
    edge = state[at];
  }

  @Override
  public void add(Object value, int sign) {
    if (last || edge == null) {
      edge = value;
    }
  }

  @Override
  public void store(Object[] state, int at) {
    state[at] = edge;
  }

  @Override
  public Object result() {
    return edge;
  }
}
