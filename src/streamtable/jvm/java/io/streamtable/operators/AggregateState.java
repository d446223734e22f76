package io.streamtable.operators;

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
 * The aggregates of one group at a time: load, add rows, read the results, store or forget.
 *
 * <p>State (layout v1): "group", the number of rows and each aggregate's columns; beside it what the
 * aggregates open themselves ("agg0_distinct", "agg1_values", "agg2_chunks").
 */
final class AggregateState implements Serializable {
  private final List<Aggregation> calls;
  private final List<Accumulator> accumulators;
  private final PartialRows partials;
  private final RowOrder order;
  private final boolean expires;
  private final int[] offsets;
  private final StructType schema;
  private transient ValueState<Row> group;
  private transient Object[] state;
  private transient long rows;
  private transient boolean known;
  private transient boolean added;

  /**
   * @param partials the layout of input rows that {@link LocalAggregate} has summed up; null where
   *     they come as they are
   * @param order in which the rows of a batch are added; null for any
   * @param expires whether a group may be gone whose rows are still taken back; those that come
   *     before the first one added are then not its own
   */
  AggregateState(
      List<Aggregation> calls,
      List<Accumulator> accumulators,
      PartialRows partials,
      RowOrder order,
      boolean expires) {
    this.order = order;
    this.expires = expires;
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

  void open(StatefulProcessorHandle handle) {
    Encoder<Row> encoder = Plain.row(schema);
    group = handle.getValueState("group", encoder, TTLConfig.NONE());
    for (int i = 0; i < offsets.length; i++) {
      accumulators.get(i).open(handle, "agg" + i);
    }
  }

  /** Takes over the state of the current key; returns whether there was any. */
  boolean load() {
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
    known = stored != null;
    added = false;
    return known;
  }

  /** Whether anything was added, or taken back, that may concern the group; summed up or not. */
  boolean added() {
    return !expires || known || added;
  }

  /** How many rows the group has. */
  long rows() {
    return rows;
  }

  /** Adds every input row and settles the aggregates. */
  void add(scala.collection.Iterator<Row> input) {
    long grown = 0;
    Iterator<Row> found = CollectionConverters.asJava(input);
    Iterator<Row> rows = order == null ? found : order.sorted(found);
    while (rows.hasNext()) {
      Row row = rows.next();
      grown += partials == null ? add(row) : merge(row);
    }
    this.rows = Math.max(0, this.rows + grown);
    for (Accumulator accumulator : accumulators) {
      accumulator.finish();
    }
  }

  /** By how many rows an input row counts, as it is or summed up. */
  long weight(Row row) {
    return partials == null ? 1 : Math.abs(row.getLong(partials.rowsAt()));
  }

  private long add(Row row) {
    int sign = RowKind.sign(row.getByte(RowKind.POSITION));
    added |= sign > 0;
    if (expires && !known && !added) {
      return 0;
    }
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

  void store() {
    state[0] = rows;
    for (int i = 0; i < offsets.length; i++) {
      accumulators.get(i).store(state, offsets[i]);
    }
    group.update(RowFactory.create(state));
  }

  void forget() {
    group.clear();
    for (Accumulator accumulator : accumulators) {
      accumulator.clear();
    }
  }

  Object[] results() {
    Object[] results = new Object[accumulators.size()];
    for (int i = 0; i < results.length; i++) {
      results[i] = accumulators.get(i).result();
    }
    return results;
  }

  /** A changelog row of the first columns of a key and the aggregates. */
  static Row row(byte kind, Row key, int keys, Object[] results) {
    Object[] columns = new Object[1 + keys + results.length];
    columns[RowKind.POSITION] = kind;
    for (int i = 0; i < keys; i++) {
      columns[1 + i] = key.get(i);
    }
    System.arraycopy(results, 0, columns, 1 + keys, results.length);
    return RowFactory.create(columns);
  }
}
