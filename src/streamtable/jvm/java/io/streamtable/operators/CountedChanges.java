package io.streamtable.operators;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.HashMap;
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
 * How often each value came or went, summed up in memory: a value that came and went costs no state
 * access, and the order of the rows does not matter. Travels as an array of (value, count).
 */
final class CountedChanges implements Partial, Serializable {
  private final HashMap<Object, Long> counts = new HashMap<>();

  /** The column of an array of (value, count). */
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

  /** Changes how often a value is there. */
  void change(Object value, long by) {
    // Byte arrays have no equality of their own, so they are collected behind one that has.
    counts.merge(value instanceof byte[] bytes ? ByteBuffer.wrap(bytes) : value, by, Long::sum);
  }

  /** Adds what another one exported. */
  void include(Row row, int at) {
    include(row.<Row>getList(at));
  }

  /** Takes over what {@link #export} wrote; null is nothing. */
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

  /** Shows every value whose count is above zero. */
  void forEach(ObjLongConsumer<Object> taker) {
    counts.forEach(
        (value, count) -> {
          if (count > 0) {
            taker.accept(plain(value), count);
          }
        });
  }

  @Override
  public void export(Object[] row, int at) {
    counts.values().removeIf(count -> count == 0);
    Row[] changes = new Row[counts.size()];
    int next = 0;
    for (Map.Entry<Object, Long> entry : counts.entrySet()) {
      changes[next++] = RowFactory.create(plain(entry.getKey()), entry.getValue());
    }
    row[at] = changes;
  }

  /** Hands over every value whose count is not zero, and forgets all of them. */
  void drain(ObjLongConsumer<Object> taker) {
    counts.forEach(
        (value, by) -> {
          if (by != 0) {
            taker.accept(plain(value), by);
          }
        });
    counts.clear();
  }

  private static Object plain(Object key) {
    return key instanceof ByteBuffer buffer ? buffer.array() : key;
  }
}
