package io.streamtable.operators.aggregate;

import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.state.OrderedValue;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The aggregates of one group at a time: load, add rows, read the results, store or clear.
 *
 * <p>State (layout v1): "group", the number of rows and each aggregate's columns; in addition,
 * state that the aggregates open themselves ("agg0_distinct", "agg1_values", "agg2_chunks").
 */
public final class AggregateState implements Serializable {
  private final List<Aggregation> calls;
  private final List<Accumulator> accumulators;
  private final PartialRows partials;
  private final RowOrder order;
  private final boolean ignoring;
  private final int[] offsets;
  private final StructType schema;
  private transient ValueState<Row> group;
  private transient Object[] state;
  private transient long rows;
  private transient boolean added;

  /**
   * @param partials layout of input rows from {@link LocalAggregate}; null for raw input rows
   * @param order order in which the rows of a batch are added; null for any order
   * @param ignoring whether rows may be retracted that the group has never had, or had before it
   *     expired; retractions are then ignored while the group has no rows, as in Flink. Input rows
   *     must be raw
   */
  public AggregateState(
      List<Aggregation> calls,
      List<Accumulator> accumulators,
      PartialRows partials,
      RowOrder order,
      boolean ignoring) {
    this.order = order;
    this.ignoring = ignoring;
    this.calls = calls;
    this.accumulators = accumulators;
    this.partials = partials;
    this.offsets = new int[calls.size()];
    List<StructField> columns = new ArrayList<>();
    columns.add(DataTypes.createStructField("rows", DataTypes.LongType, false));
    for (int i = 0; i < calls.size(); i++) {
      offsets[i] = columns.size();
      columns.addAll(accumulators.get(i).columns("agg" + i));
    }
    this.schema = new StructType(columns.toArray(new StructField[0]));
  }

  public void open(StatefulProcessorHandle handle) {
    Encoder<Row> encoder = Plain.row(schema);
    group = OrderedValue.of(handle.getValueState("group", encoder, TTLConfig.NONE()));
    for (int i = 0; i < offsets.length; i++) {
      accumulators.get(i).open(handle, "agg" + i);
    }
  }

  /** Loads the state of the current key. Returns whether there was any. */
  public boolean load() {
    Row stored = group.get();
    state = new Object[schema.length()];
    state[0] = 0L;
    for (int i = 0; stored != null && i < state.length; i++) {
      state[i] = stored.get(i);
    }
    for (int i = 0; i < offsets.length; i++) {
      accumulators.get(i).load(state, offsets[i]);
    }
    rows = (Long) state[0];
    added = false;
    return stored != null;
  }

  /** Returns whether a row was added to the group, which was not in state. */
  boolean added() {
    return !ignoring || added;
  }

  /** Returns the number of rows of the group. */
  public long rows() {
    return rows;
  }

  /** Returns whether rows are added in the order of their positions, or may be added in any. */
  public boolean keepsOrder() {
    return order == null || order.hasColumns();
  }

  /** Adds every input row and finishes the aggregates. */
  public void add(scala.collection.Iterator<Row> input) {
    Iterator<Row> found = CollectionConverters.asJava(input);
    Iterator<Row> sorted = order == null ? found : order.sorted(found);
    while (sorted.hasNext()) {
      Row row = sorted.next();
      rows += partials == null ? add(row) : merge(row);
    }
    rows = Math.max(0, rows);
    for (Accumulator accumulator : accumulators) {
      accumulator.finish();
    }
  }

  /** Returns by how many rows an input row, raw or pre-aggregated, changes the group. */
  public long weight(Row row) {
    return partials == null ? 1 : Math.abs(row.getLong(partials.rowsAt()));
  }

  private long add(Row row) {
    int sign = RowKind.sign(row.getByte(RowKind.POSITION));
    if (ignoring && sign < 0 && rows == 0) {
      return 0;
    }
    added |= sign > 0;
    for (int i = 0; i < offsets.length; i++) {
      Object value = calls.get(i).value(row);
      if (value != null) {
        accumulators.get(i).add(value, sign);
      }
    }
    return sign;
  }

  private long merge(Row row) {
    for (int i = 0; i < offsets.length; i++) {
      accumulators.get(i).merge(row, partials.at(i));
    }
    return row.getLong(partials.rowsAt());
  }

  public void store() {
    state[0] = rows;
    for (int i = 0; i < offsets.length; i++) {
      accumulators.get(i).store(state, offsets[i]);
    }
    group.update(RowFactory.create(state));
  }

  public void forget() {
    group.clear();
    forgetValues();
  }

  /** Deletes the state that the aggregates opened themselves. */
  public void forgetValues() {
    for (Accumulator accumulator : accumulators) {
      accumulator.clear();
    }
  }

  public Object[] results() {
    Object[] results = new Object[accumulators.size()];
    for (int i = 0; i < results.length; i++) {
      results[i] = accumulators.get(i).result();
    }
    return results;
  }

  /** Builds a changelog row from the first columns of a key and the aggregates. */
  public static Row row(byte kind, Row key, int keys, Object[] results) {
    Object[] columns = new Object[1 + keys + results.length];
    columns[RowKind.POSITION] = kind;
    for (int i = 0; i < keys; i++) {
      columns[1 + i] = key.get(i);
    }
    System.arraycopy(results, 0, columns, 1 + keys, results.length);
    return RowFactory.create(columns);
  }
}
