package io.streamtable.operators.accumulator.bitmap;

import io.streamtable.functions.Bitmaps;
import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.accumulator.Partial;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;

/**
 * The aggregates BITMAP_BUILD_AGG, BITMAP_AND_AGG, BITMAP_OR_AGG and BITMAP_XOR_AGG, and their
 * forms with a cardinality: over append-only input, and XOR over any input. The state is the result
 * and the number of values.
 */
public final class BitmapAccumulator implements Accumulator {
  private final BitmapOperation operation;
  private final boolean cardinality;
  private final RunningBitmap running;

  private BitmapAccumulator(BitmapOperation operation, boolean cardinality) {
    this.operation = operation;
    this.cardinality = cardinality;
    this.running = new RunningBitmap(operation);
  }

  /** Creates the accumulator of a function of Flink, such as BITMAP_OR_CARDINALITY_AGG. */
  public static Accumulator of(String function, boolean retracting) {
    BitmapOperation operation = BitmapOperation.valueOf(function.split("_")[1]);
    boolean cardinality = function.endsWith("_CARDINALITY_AGG");
    return retracting && operation != BitmapOperation.XOR
        ? new RetractableBitmapAccumulator(operation, cardinality)
        : new BitmapAccumulator(operation, cardinality);
  }

  /** Returns the value of an aggregate from a binary form of its set, which may be null. */
  static Object result(byte[] bytes, boolean cardinality) {
    return bytes == null || !cardinality ? bytes : (Object) Bitmaps.bitmapCardinality(bytes);
  }

  @Override
  public List<StructField> columns(String name) {
    return List.of(
        DataTypes.createStructField(name + "_count", DataTypes.LongType, true),
        DataTypes.createStructField(name + "_bitmap", DataTypes.BinaryType, true));
  }

  @Override
  public List<StructField> partialColumns(String name) {
    return columns(name);
  }

  @Override
  public Partial partial() {
    return new RunningBitmap(operation);
  }

  @Override
  public void merge(Row row, int at) {
    running.include(row.get(at), row.get(at + 1));
  }

  @Override
  public void load(Object[] state, int at) {
    running.load(state[at], state[at + 1]);
  }

  @Override
  public void add(Object value, int sign) {
    running.add(value, sign);
  }

  @Override
  public void store(Object[] state, int at) {
    running.export(state, at);
  }

  @Override
  public Object result() {
    return result(running.result(), cardinality);
  }
}
