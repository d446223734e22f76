package io.streamtable.operators.accumulator.counted;

import io.streamtable.operators.accumulator.Partial;
import io.streamtable.operators.row.RowValue;
import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ObjLongConsumer;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Collects the net count of each value in memory. A value that is added and retracted costs no
 * state access, and the order of the rows does not matter. Values keep the order of their first
 * change. The shuffled form is an array of (value, count).
 */
final class CountedChanges implements Partial, Serializable {
  private final LinkedHashMap<Object, Long> counts = new LinkedHashMap<>();

  /** Returns the column of an array of (value, count). */
  static StructField column(String name, DataType type) {
    StructType element =
        new StructType(
            new StructField[] {
              DataTypes.createStructField("value", type, true),
              DataTypes.createStructField("count", DataTypes.LongType, false)
            });
    return DataTypes.createStructField(name, DataTypes.createArrayType(element), true);
  }

  @Override
  public void add(Object value, int sign) {
    change(value, sign);
  }

  /** Changes the count of a value. */
  void change(Object value, long by) {
    counts.merge(RowValue.key(value), by, Long::sum);
  }

  /** Adds the exported counts of another object. */
  void include(Row row, int at) {
    include(row.<Row>getList(at));
  }

  /** Loads the array that {@link #export} wrote; null is empty. */
  @SuppressWarnings("unchecked")
  void load(Object exported) {
    counts.clear();
    if (exported != null) {
      include(CollectionConverters.asJava((Seq<Row>) exported));
    }
  }

  private void include(Iterable<Row> changes) {
    for (Row change : changes) {
      change(change.get(0), change.getLong(1));
    }
  }

  /** Passes each value whose count is above zero to the consumer. */
  void forEach(ObjLongConsumer<Object> taker) {
    counts.forEach(
        (value, count) -> {
          if (count > 0) {
            taker.accept(RowValue.value(value), count);
          }
        });
  }

  /** Drops retractions of values that were not added. */
  void dropNegative() {
    counts.values().removeIf(count -> count < 0);
  }

  @Override
  public void export(Object[] row, int at) {
    counts.values().removeIf(count -> count == 0);
    Row[] changes = new Row[counts.size()];
    int next = 0;
    for (Map.Entry<Object, Long> entry : counts.entrySet()) {
      changes[next++] = RowFactory.create(RowValue.value(entry.getKey()), entry.getValue());
    }
    row[at] = changes;
  }

  /** Passes each value whose count is not zero to the consumer, and clears all counts. */
  void drain(ObjLongConsumer<Object> taker) {
    counts.forEach(
        (value, by) -> {
          if (by != 0) {
            taker.accept(RowValue.value(value), by);
          }
        });
    counts.clear();
  }
}
