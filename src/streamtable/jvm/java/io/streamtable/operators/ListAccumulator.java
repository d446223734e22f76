package io.streamtable.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Aggregates whose answer goes by the order of the values: the values themselves, as they came.
 *
 * <p>A value that is taken back is the first of its equals. One that is taken back before it came, as
 * rows of one batch may be, is left out when it comes. State: "values", and with DISTINCT "counts",
 * how often each of them is there.
 */
final class ListAccumulator implements Accumulator {
  private final DataType type;
  private final boolean distinct;
  private final ListResult result;
  private List<Object> values = new ArrayList<>();
  private List<Long> counts = new ArrayList<>();
  private final List<Object> owed = new ArrayList<>();

  ListAccumulator(DataType type, boolean distinct, ListResult result) {
    this.type = type;
    this.distinct = distinct;
    this.result = result;
  }

  @Override
  public boolean ordered() {
    return true;
  }

  @Override
  public List<StructField> columns(String name) {
    StructField kept =
        DataTypes.createStructField(name + "_values", DataTypes.createArrayType(type), true);
    StructField copies =
        DataTypes.createStructField(
            name + "_counts", DataTypes.createArrayType(DataTypes.LongType), true);
    return distinct ? List.of(kept, copies) : List.of(kept);
  }

  @Override
  public void load(Object[] state, int at) {
    values = list(state[at]);
    if (distinct) {
      counts = list(state[at + 1]);
    }
  }

  @SuppressWarnings("unchecked")
  private static <T> List<T> list(Object column) {
    return column == null
        ? new ArrayList<>()
        : new ArrayList<>(CollectionConverters.asJava((Seq<T>) column));
  }

  @Override
  public void add(Object value, int sign) {
    if (sign < 0) {
      remove(value);
    } else if (!pay(value)) {
      append(value);
    }
  }

  private void append(Object value) {
    int found = distinct ? indexOf(values, value) : -1;
    if (found >= 0) {
      counts.set(found, counts.get(found) + 1);
      return;
    }
    values.add(value);
    if (distinct) {
      counts.add(1L);
    }
  }

  private void remove(Object value) {
    int found = indexOf(values, value);
    if (found < 0) {
      owed.add(value);
    } else if (distinct && counts.get(found) > 1) {
      counts.set(found, counts.get(found) - 1);
    } else {
      values.remove(found);
      if (distinct) {
        counts.remove(found);
      }
    }
  }

  /** Whether the value had been taken back already. */
  private boolean pay(Object value) {
    int found = indexOf(owed, value);
    if (found >= 0) {
      owed.remove(found);
    }
    return found >= 0;
  }

  private static int indexOf(List<Object> values, Object value) {
    for (int i = 0; i < values.size(); i++) {
      if (Values.same(values.get(i), value)) {
        return i;
      }
    }
    return -1;
  }

  @Override
  public void finish() {
    owed.clear();
  }

  @Override
  public void store(Object[] state, int at) {
    state[at] = values.toArray();
    if (distinct) {
      state[at + 1] = counts.toArray();
    }
  }

  @Override
  public Object result() {
    return result.of(values);
  }
}
