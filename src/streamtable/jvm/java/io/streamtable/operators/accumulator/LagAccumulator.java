package io.streamtable.operators.accumulator;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * LAG: the value at an offset before the last row, of rows in order.
 *
 * <p>Each input value is a row of (value, default). The default applies if there is no such row or,
 * as in Flink, if its value is NULL. State: "values", the last values.
 */
public final class LagAccumulator implements Accumulator {
  private final DataType type;
  private final int offset;
  private transient Deque<Row> values;

  public LagAccumulator(DataType type, int offset) {
    this.type = type;
    this.offset = offset;
  }

  @Override
  public boolean ordered() {
    return true;
  }

  @Override
  public List<StructField> columns(String name) {
    return List.of(
        DataTypes.createStructField(name + "_values", DataTypes.createArrayType(type), true));
  }

  @Override
  @SuppressWarnings("unchecked")
  public void load(Object[] state, int at) {
    values =
        state[at] == null
            ? new ArrayDeque<>()
            : new ArrayDeque<>(CollectionConverters.asJava((Seq<Row>) state[at]));
  }

  @Override
  public void add(Object value, int sign) {
    values.add((Row) value);
    if (values.size() > offset + 1) {
      values.remove();
    }
  }

  @Override
  public void store(Object[] state, int at) {
    state[at] = values.toArray();
  }

  @Override
  public Object result() {
    Object found = values.size() > offset ? values.peekFirst().get(0) : null;
    return found == null ? values.peekLast().get(1) : found;
  }
}
