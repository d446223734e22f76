package io.streamtable.operators.accumulator.bitmap;

import io.streamtable.functions.Bitmaps;
import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.accumulator.Partial;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.roaringbitmap.RoaringBitmap;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The BITMAP aggregates except XOR over input with retractions. The state is the net number of
 * values, the counts of their integers, and the counts of retractions without an addition.
 */
final class RetractableBitmapAccumulator implements Accumulator {
  private static final DataType DIGITS = DataTypes.createArrayType(DataTypes.BinaryType, false);

  private final BitmapOperation operation;
  private final boolean cardinality;
  private transient CountedBitmaps counts;

  RetractableBitmapAccumulator(BitmapOperation operation, boolean cardinality) {
    this.operation = operation;
    this.cardinality = cardinality;
  }

  @Override
  public List<StructField> columns(String name) {
    return List.of(
        DataTypes.createStructField(name + "_count", DataTypes.LongType, true),
        DataTypes.createStructField(name + "_added", DIGITS, true),
        DataTypes.createStructField(name + "_removed", DIGITS, true));
  }

  @Override
  public List<StructField> partialColumns(String name) {
    return columns(name);
  }

  @Override
  public Partial partial() {
    return new CountedBitmaps();
  }

  @Override
  public void merge(Row row, int at) {
    counts.include(row.get(at), row.getList(at + 1), row.getList(at + 2));
  }

  @Override
  public void load(Object[] state, int at) {
    counts = new CountedBitmaps();
    counts.include(state[at], digits(state[at + 1]), digits(state[at + 2]));
  }

  @SuppressWarnings("unchecked")
  private static Iterable<byte[]> digits(Object stored) {
    return stored == null ? List.of() : CollectionConverters.asJava((Seq<byte[]>) stored);
  }

  @Override
  public void add(Object value, int sign) {
    counts.add(value, sign);
  }

  @Override
  public void finish() {
    counts.settle();
  }

  @Override
  public void store(Object[] state, int at) {
    counts.export(state, at);
  }

  @Override
  public Object result() {
    RoaringBitmap found = counts.result(operation);
    if (found == null) {
      return null;
    }
    return cardinality ? (Object) found.getLongCardinality() : Bitmaps.write(found);
  }
}
