package io.streamtable.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Changelog rows of one group in, at most one change of its aggregates out.
 *
 * <p>State (layout v1): "group", the number of rows and each aggregate's columns; beside it what the
 * aggregates open themselves ("agg0_distinct", "agg1_values", "agg2_chunks"). A group without rows
 * leaves nothing behind, except the one group of a query without GROUP BY, which is always there.
 */
public final class GroupAggregateProcessor extends StatefulProcessor<Row, Row, Row> {
  private final List<Aggregation> calls;
  private final List<Accumulator> accumulators;
  private final PartialRows partials;
  private final int keys;
  private final boolean before;
  private final StructType stateSchema;
  private final int[] offsets;
  private transient ValueState<Row> group;

  /**
   * @param keys number of grouping columns; 0 for one group of everything
   * @param before whether an update comes with the row it replaces
   * @param partials the layout of input rows that {@link LocalAggregate} has summed up; null where
   *     they come as they are
   */
  GroupAggregateProcessor(
      List<Aggregation> calls,
      List<Accumulator> accumulators,
      int keys,
      boolean before,
      PartialRows partials) {
    this.calls = calls;
    this.accumulators = accumulators;
    this.keys = keys;
    this.before = before;
    this.partials = partials;
    this.offsets = new int[calls.size()];
    List<StructField> columns = new ArrayList<>();
    columns.add(DataTypes.createStructField("rows", DataTypes.LongType, false));
    for (int i = 0; i < calls.size(); i++) {
      offsets[i] = columns.size();
      columns.addAll(accumulators.get(i).columns("agg" + i));
    }
    this.stateSchema = new StructType(columns.toArray(new StructField[0]));
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    group = getHandle().getValueState("group", Plain.row(stateSchema), TTLConfig.NONE());
    for (int i = 0; i < calls.size(); i++) {
      accumulators.get(i).open(getHandle(), "agg" + i);
    }
  }

  @Override
  public scala.collection.Iterator<Row> handleInputRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    Object[] state = load();
    long rowsBefore = (Long) state[0];
    boolean known = rowsBefore > 0 || (keys == 0 && group.exists());
    Object[] old = known ? results() : null;

    long rows = Math.max(0, rowsBefore + accumulate(input));
    for (Accumulator accumulator : accumulators) {
      accumulator.finish();
    }
    boolean gone = rows == 0 && keys > 0;
    if (gone) {
      forget();
    } else {
      store(state, rows);
    }
    List<Row> output = new ArrayList<>(2);
    emit(output, key, old, gone);
    return CollectionConverters.asScala(output.iterator());
  }

  private void emit(List<Row> output, Row key, Object[] old, boolean gone) {
    if (gone) {
      if (old != null) {
        output.add(row(RowKind.DELETE, key, old));
      } else if (!before) {
        // Came and went in one batch: the topic may still hold a value of an earlier run.
        output.add(row(RowKind.DELETE, key, new Object[calls.size()]));
      }
      return;
    }
    Object[] now = results();
    if (old == null) {
      output.add(row(RowKind.INSERT, key, now));
    } else if (!same(old, now)) {
      if (before) {
        output.add(row(RowKind.UPDATE_BEFORE, key, old));
      }
      output.add(row(RowKind.UPDATE_AFTER, key, now));
    }
  }

  private Object[] load() {
    Row stored = group.get();
    Object[] state = new Object[stateSchema.length()];
    if (stored == null) {
      state[0] = 0L;
    } else {
      for (int i = 0; i < state.length; i++) {
        state[i] = stored.get(i);
      }
    }
    for (int i = 0; i < offsets.length; i++) {
      accumulators.get(i).load(state, offsets[i]);
    }
    return state;
  }

  /** Adds every input row; returns by how many rows the group grew. */
  private long accumulate(scala.collection.Iterator<Row> input) {
    long grown = 0;
    while (input.hasNext()) {
      Row row = input.next();
      grown += partials == null ? add(row) : merge(row);
    }
    return grown;
  }

  private long add(Row row) {
    int sign = RowKind.sign(row.getByte(RowKind.POSITION));
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

  private void store(Object[] state, long rows) {
    state[0] = rows;
    for (int i = 0; i < offsets.length; i++) {
      accumulators.get(i).store(state, offsets[i]);
    }
    group.update(RowFactory.create(state));
  }

  private void forget() {
    group.clear();
    for (Accumulator accumulator : accumulators) {
      accumulator.clear();
    }
  }

  private Object[] results() {
    Object[] results = new Object[accumulators.size()];
    for (int i = 0; i < results.length; i++) {
      results[i] = accumulators.get(i).result();
    }
    return results;
  }

  private static boolean same(Object[] left, Object[] right) {
    for (int i = 0; i < left.length; i++) {
      if (!Values.same(left[i], right[i])) {
        return false;
      }
    }
    return true;
  }

  private Row row(byte kind, Row key, Object[] results) {
    Object[] columns = new Object[1 + keys + results.length];
    columns[RowKind.POSITION] = kind;
    for (int i = 0; i < keys; i++) {
      columns[1 + i] = key.get(i);
    }
    System.arraycopy(results, 0, columns, 1 + keys, results.length);
    return RowFactory.create(columns);
  }
}
