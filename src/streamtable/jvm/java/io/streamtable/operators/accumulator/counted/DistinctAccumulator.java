package io.streamtable.operators.accumulator.counted;

import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.accumulator.Partial;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;

/**
 * Passes each distinct value on once: it adds the value with its first copy and retracts it with
 * its last copy.
 */
public final class DistinctAccumulator implements Accumulator {
  private final DataType type;
  private final Accumulator inner;
  private final CountedValues values;

  public DistinctAccumulator(DataType type, Accumulator inner) {
    this.type = type;
    this.inner = inner;
    this.values = new CountedValues(type);
  }

  @Override
  public List<StructField> columns(String name) {
    return inner.columns(name);
  }

  @Override
  public void open(StatefulProcessorHandle handle, String name) {
    inner.open(handle, name);
    values.open(handle, name + "_distinct");
  }

  @Override
  public boolean ordered() {
    return inner.ordered();
  }

  @Override
  public List<StructField> partialColumns(String name) {
    return List.of(CountedChanges.column(name + "_changes", type));
  }

  @Override
  public Partial partial() {
    return new CountedChanges();
  }

  @Override
  public void merge(Row row, int at) {
    values.pending().include(row, at);
  }

  @Override
  public void load(Object[] state, int at) {
    inner.load(state, at);
  }

  @Override
  public void add(Object value, int sign) {
    values.pending().add(value, sign);
  }

  @Override
  public void finish() {
    values.settle((value, there) -> inner.add(value, there ? 1 : -1));
    inner.finish();
  }

  @Override
  public void store(Object[] state, int at) {
    inner.store(state, at);
  }

  @Override
  public Object result() {
    return inner.result();
  }

  @Override
  public void clear() {
    inner.clear();
    values.clear();
  }
}
