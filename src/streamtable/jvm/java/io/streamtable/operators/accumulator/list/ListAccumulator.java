package io.streamtable.operators.accumulator.list;

import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.row.Values;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Aggregates whose result depends on the order of the values. The state is the list of values in
 * arrival order.
 *
 * <p>A retraction removes the first equal value. Within a batch, a value may be retracted before it
 * is added; the later addition is then dropped. State: "values", and with DISTINCT also "counts",
 * the count of each value.
 */
public final class ListAccumulator implements Accumulator {
  private final DataType type;
  private final boolean distinct;
  private final ListResult result;
  private List<Object> values = new ArrayList<>();
  private List<Long> counts = new ArrayList<>();
  private final List<Object> owed = new ArrayList<>();

  public ListAccumulator(DataType type, boolean distinct, ListResult result) {
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

  /** Returns whether the value has already been retracted, and settles that retraction. */
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
