package io.streamtable.operators.window;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.aggregate.AggregateState;
import io.streamtable.operators.aggregate.Aggregation;
import io.streamtable.operators.aggregate.PartialRows;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.state.EventTimers;
import io.streamtable.operators.state.Lateness;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads changelog rows of one window and group, and emits its aggregates once, when the watermark
 * passes.
 *
 * <p>The key's last column is the window's last millisecond. State: that of {@link AggregateState},
 * deleted when the window fires. A window whose rows were all retracted emits nothing. If all rows of
 * a window arrive together after the watermark has passed, they are emitted without state.
 */
public final class WindowAggregateProcessor extends RowProcessor {
  private final AggregateState group;
  private final int keys;
  private final Lateness lateness;

  /**
   * @param keys number of grouping columns, without the window's last millisecond
   * @param order order in which the rows of a batch are added; null for any order
   */
  WindowAggregateProcessor(
      List<Aggregation> calls,
      List<Accumulator> accumulators,
      int keys,
      PartialRows partials,
      RowOrder order,
      Lateness lateness) {
    this.group = new AggregateState(calls, accumulators, partials, order, false);
    this.keys = keys;
    this.lateness = lateness;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    group.open(getHandle());
  }

  @Override
  public boolean takesBundles() {
    return group.keepsOrder();
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    long last = key.getLong(keys);
    if (lateness.isLate(last, timers)) {
      while (input.hasNext()) {
        lateness.count(group.weight(input.next()));
      }
      return CollectionConverters.asScala(List.<Row>of().iterator());
    }
    boolean known = group.load();
    group.add(input);
    if (lateness.isComplete(last, timers)) {
      // Nothing waits, so nothing is stored. Some aggregates keep values in state of their own.
      List<Row> output = result(key);
      if (known) {
        EventTimers.delete(getHandle(), last);
        group.forget();
      } else {
        group.forgetValues();
      }
      return CollectionConverters.asScala(output.iterator());
    }
    if (!known) {
      EventTimers.register(getHandle(), last);
    }
    group.store();
    return CollectionConverters.asScala(List.<Row>of().iterator());
  }

  @Override
  public scala.collection.Iterator<Row> handleExpiredTimer(
      Row key, TimerValues timers, ExpiredTimerInfo timer) {
    group.load();
    List<Row> output = result(key);
    group.forget();
    return CollectionConverters.asScala(output.iterator());
  }

  private List<Row> result(Row key) {
    return group.rows() == 0
        ? List.of()
        : List.of(AggregateState.row(RowKind.INSERT, key, keys, group.results()));
  }
}
