package io.streamtable.operators.accumulator.counted;

import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.accumulator.Partial;
import io.streamtable.operators.row.RowValue;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import scala.jdk.javaapi.CollectionConverters;

/**
 * COLLECT: a map from each value to its count. The map is empty, not null, if there are no values.
 */
public final class MultisetAccumulator implements Accumulator {
  private final DataType type;
  private final CountedChanges counts = new CountedChanges();

  public MultisetAccumulator(DataType type) {
    this.type = type;
  }

  @Override
  public List<StructField> columns(String name) {
    return List.of(CountedChanges.column(name + "_counts", type));
  }

  @Override
  public List<StructField> partialColumns(String name) {
    return columns(name);
  }

  @Override
  public Partial partial() {
    return new CountedChanges();
  }

  @Override
  public void merge(Row row, int at) {
    counts.include(row, at);
  }

  @Override
  public void load(Object[] state, int at) {
    counts.load(state[at]);
  }

  @Override
  public void add(Object value, int sign) {
    counts.add(value, sign);
  }

  @Override
  public void finish() {
    counts.dropNegative();
  }

  @Override
  public void store(Object[] state, int at) {
    counts.export(state, at);
  }

  @Override
  public Object result() {
    Map<Object, Integer> byContent = new HashMap<>();
    counts.forEach((value, count) -> byContent.put(RowValue.key(value), (int) count));
    // The order must not depend on addresses: a retraction has the same bytes as its row.
    Map<Object, Integer> found = new LinkedHashMap<>();
    byContent.forEach((key, count) -> found.put(RowValue.value(key), count));
    return CollectionConverters.asScala(found);
  }
}
