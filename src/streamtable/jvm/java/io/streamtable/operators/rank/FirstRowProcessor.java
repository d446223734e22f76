package io.streamtable.operators.rank;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowValue;
import io.streamtable.operators.state.EventTimers;
import io.streamtable.operators.state.IdleTime;
import io.streamtable.operators.state.Lateness;
import io.streamtable.operators.state.OrderedValue;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads append-only rows of one partition, and emits the first row once, when the watermark has
 * passed it.
 *
 * <p>Input rows are (row kind, columns..., event time in milliseconds, position...). State (layout
 * v1): "first", the first row so far; it contains null after the row was emitted, permanently or
 * until the {@link IdleTime} is over. Of rows with the same event time, the first to arrive is
 * used. Rows behind the watermark are late.
 */
public final class FirstRowProcessor extends RowProcessor {
  private final StructType row;
  private final int momentAt;
  private final Comparator<Row> order;
  private final Lateness lateness;
  private final IdleTime emittedAgo;
  private transient ValueState<Row> first;

  /**
   * @param row schema of the input
   * @param order order by event time and position
   * @param ttl how long the operator remembers that the first row was emitted; see {@link IdleTime}
   */
  FirstRowProcessor(
      StructType row, int momentAt, Comparator<Row> order, Lateness lateness, long ttl) {
    this.row = row;
    this.momentAt = momentAt;
    this.order = order;
    this.lateness = lateness;
    this.emittedAgo = new IdleTime(ttl);
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    StructType schema = new StructType().add("row", row, true);
    first =
        OrderedValue.of(getHandle().getValueState("first", Plain.row(schema), TTLConfig.NONE()));
    emittedAgo.open(getHandle());
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    Row best = null;
    while (input.hasNext()) {
      Row next = input.next();
      if (lateness.isLate(next.getLong(momentAt), timers)) {
        lateness.count(1);
      } else if (best == null || order.compare(next, best) < 0) {
        best = next;
      }
    }
    if (best != null) {
      offer(emittedAgo.isOver(timers) ? forget() : first.get(), best);
    }
    return CollectionConverters.asScala(List.<Row>of().iterator());
  }

  private void offer(Row stored, Row best) {
    if (stored != null && (isEmitted(stored) || moment(stored.getStruct(0)) <= moment(best))) {
      return;
    }
    if (stored != null) {
      EventTimers.delete(getHandle(), moment(stored.getStruct(0)));
    }
    EventTimers.register(getHandle(), moment(best));
    first.update(RowFactory.create(best));
  }

  private static boolean isEmitted(Row stored) {
    return stored.isNullAt(0);
  }

  /** Clears the mark that the first row was emitted. */
  private Row forget() {
    first.clear();
    emittedAgo.clear();
    return null;
  }

  private long moment(Row row) {
    return row.getLong(momentAt);
  }

  @Override
  public scala.collection.Iterator<Row> handleExpiredTimer(
      Row key, TimerValues timers, ExpiredTimerInfo timer) {
    List<Row> output = new ArrayList<>(1);
    Row stored = first.get();
    if (stored == null || isEmitted(stored)) {
      if (emittedAgo.endsAt(timers)) {
        forget();
      }
    } else if (moment(stored.getStruct(0)) <= EventTimers.watermark(timers)) {
      output.add(RowValue.slice(stored.getStruct(0), 0, momentAt));
      first.update(RowFactory.create((Object) null));
      emittedAgo.use(timers);
    }
    return CollectionConverters.asScala(output.iterator());
  }
}
