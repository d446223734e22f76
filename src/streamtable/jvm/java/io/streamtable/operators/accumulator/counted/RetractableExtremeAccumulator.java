package io.streamtable.operators.accumulator.counted;

import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.accumulator.ExtremeAccumulator;
import io.streamtable.operators.accumulator.Partial;
import io.streamtable.operators.row.Values;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;

/**
 * MIN or MAX over input with retractions. The state has all values and the current extreme.
 *
 * <p>Only if the extreme itself is removed, and no new value beats it, does it search the values
 * for the next one.
 */
public final class RetractableExtremeAccumulator implements Accumulator {
  private final DataType type;
  private final boolean max;
  private final CountedValues values;
  private Object extreme;
  private boolean lost;

  public RetractableExtremeAccumulator(DataType type, boolean max) {
    this.type = type;
    this.max = max;
    this.values = new CountedValues(type);
  }

  @Override
  public List<StructField> columns(String name) {
    return List.of(DataTypes.createStructField(name + "_extreme", type, true));
  }

  @Override
  public void open(StatefulProcessorHandle handle, String name) {
    values.open(handle, name + "_values");
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
    extreme = state[at];
  }

  @Override
  public void add(Object value, int sign) {
    values.pending().add(value, sign);
  }

  @Override
  public void finish() {
    lost = false;
    values.settle(this::changed);
    if (lost) {
      extreme = values.extreme(max);
    }
  }

  private void changed(Object value, boolean there) {
    if (there && (extreme == null || ExtremeAccumulator.beats(value, extreme, max))) {
      extreme = value;
      lost = false;
    } else if (!there && Values.same(value, extreme)) {
      lost = true;
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

  @Override
  public void clear() {
    values.clear();
  }
}
