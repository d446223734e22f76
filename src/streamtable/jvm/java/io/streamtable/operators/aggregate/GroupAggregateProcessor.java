package io.streamtable.operators.aggregate;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.StateRows;
import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.row.Values;
import io.streamtable.operators.state.ExpiringState;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads the changelog rows of one group, and emits at most one change of its aggregates.
 *
 * <p>State: that of {@link AggregateState}. A group without rows is deleted and leaves no state,
 * including the single group of a query without GROUP BY. If state expires, the processor also
 * emits unchanged results, so that the state of downstream operators does not expire before its own
 * state.
 */
public final class GroupAggregateProcessor extends RowProcessor implements StateRows {
  private final AggregateState group;
  private final int keys;
  private final boolean before;
  private final int results;
  private final long ttl;

  /**
   * @param keys number of grouping columns; 0 for one group of all rows
   * @param before whether to emit update-before rows
   * @param partials layout of input rows from {@link LocalAggregate}; null for raw input rows
   * @param order order in which the rows of a batch are added; null for any order
   * @param ignoring see {@link AggregateState}
   * @param ttl see {@link ExpiringState#of}
   */
  GroupAggregateProcessor(
      List<Aggregation> calls,
      List<Accumulator> accumulators,
      int keys,
      boolean before,
      PartialRows partials,
      RowOrder order,
      boolean ignoring,
      long ttl) {
    this.group = new AggregateState(calls, accumulators, partials, order, ignoring);
    this.ttl = ttl;
    this.keys = keys;
    this.before = before;
    this.results = calls.size();
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    group.open(ExpiringState.of(getHandle(), ttl));
  }

  @Override
  public boolean takesBundles() {
    return group.keepsOrder();
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    Object[] old = group.load() ? group.results() : null;
    group.add(input);
    // Results are read before the state is stored, because a Python function computes both at once.
    Object[] now = group.rows() == 0 ? null : group.results();
    if (now == null) {
      group.forget();
    } else {
      group.store();
    }
    List<Row> output = new ArrayList<>(2);
    emit(output, key, old, now);
    return CollectionConverters.asScala(output.iterator());
  }

  @Override
  public Row current(Row key) {
    group.load();
    return row(RowKind.INSERT, key, group.results());
  }

  private void emit(List<Row> output, Row key, Object[] old, Object[] now) {
    if (now == null) {
      if (old != null) {
        output.add(row(RowKind.DELETE, key, old));
      } else if (!before && group.added()) {
        // Added and removed in one batch: the topic may still have a value of an earlier run.
        output.add(row(RowKind.DELETE, key, new Object[results]));
      }
      return;
    }
    if (old == null) {
      output.add(row(RowKind.INSERT, key, now));
    } else if (ttl > 0 || !same(old, now)) {
      if (before) {
        output.add(row(RowKind.UPDATE_BEFORE, key, old));
      }
      output.add(row(RowKind.UPDATE_AFTER, key, now));
    }
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
    return AggregateState.row(kind, key, keys, results);
  }
}
