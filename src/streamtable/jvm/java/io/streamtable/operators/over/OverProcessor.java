package io.streamtable.operators.over;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.aggregate.AggregateState;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.state.EventTimers;
import io.streamtable.operators.state.IdleTime;
import io.streamtable.operators.state.Lateness;
import io.streamtable.operators.state.RowsByTime;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads append-only rows of one partition, and emits each row with its aggregates when the
 * watermark has passed it, in the order of event time.
 *
 * <p>Input rows are (row kind, columns..., event time in milliseconds, position...). State (layout
 * v1): "rows", event time -> waiting rows, and rows that a bounded frame still needs; "times", the
 * time of the current timer and the last event time that has passed; for an unbounded frame also
 * the state of {@link AggregateState}. If no row waits, all state is deleted when the
 * {@link IdleTime} is over. Rows behind the watermark are late. Rows that the watermark passes in the
 * batch of their arrival are emitted at once.
 */
public final class OverProcessor extends RowProcessor {
  private static final long NONE = Long.MIN_VALUE;

  private final RowsByTime rows;
  private final OverFrame frame;
  private final IdleTime idle;
  private transient ValueState<Row> times;

  /**
   * @param row the row kind and the columns
   * @param order order of rows with the same event time in a batch
   * @param ttl how long a partition is kept without rows; see {@link IdleTime}
   */
  OverProcessor(
      StructType row, OverFrame frame, Comparator<Row> order, Lateness lateness, long ttl) {
    this.rows = new RowsByTime(row, order, lateness);
    this.frame = frame;
    this.idle = new IdleTime(ttl);
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    rows.open(getHandle(), "rows");
    StructType moments =
        new StructType().add("timer", DataTypes.LongType).add("passed", DataTypes.LongType);
    times = getHandle().getValueState("times", Plain.row(moments), TTLConfig.NONE());
    frame.open(getHandle());
    idle.open(getHandle());
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    if (idle.isOver(timers) && !waits(times.get())) {
      clear();
    }
    SortedMap<Long, List<Row>> arrived = rows.arrived(input, timers);
    List<Row> output = List.of();
    if (!arrived.isEmpty()) {
      Row known = times.get();
      long timer = known == null ? NONE : known.getLong(0);
      long passed = known == null ? Long.MIN_VALUE : known.getLong(1);
      long first = arrived.firstKey();
      if (rows.isComplete(first, timers)) {
        if (timer != NONE) {
          EventTimers.delete(getHandle(), timer);
        }
        output = advance(arrived, passed, EventTimers.reached(timers));
      } else {
        rows.add(arrived);
        long next = timer == NONE ? first : Math.min(timer, first);
        wake(timer, next);
        times.update(RowFactory.create(next, passed));
      }
    }
    idle.use(timers);
    return CollectionConverters.asScala(output.iterator());
  }

  /** Returns whether a timer is set for waiting rows, or for rows that a time frame still needs. */
  private static boolean waits(Row times) {
    return times != null && times.getLong(0) != NONE;
  }

  private void clear() {
    rows.clear();
    times.clear();
    frame.clear();
    idle.clear();
  }

  /** Moves the timer. */
  private void wake(long from, long to) {
    if (from != to) {
      if (from != NONE) {
        EventTimers.delete(getHandle(), from);
      }
      EventTimers.register(getHandle(), to);
    }
  }

  @Override
  public scala.collection.Iterator<Row> handleExpiredTimer(
      Row key, TimerValues timers, ExpiredTimerInfo timer) {
    long watermark = EventTimers.watermark(timers);
    Row known = times.get();
    if (!waits(known) || known.getLong(0) > watermark) {
      wakeIdle(timers, waits(known));
      return CollectionConverters.asScala(List.<Row>of().iterator());
    }
    List<Row> output = advance(new TreeMap<>(), known.getLong(1), watermark);
    idle.use(timers);
    return CollectionConverters.asScala(output.iterator());
  }

  /** Emits the stored and the arrived rows up to a watermark, and stores what is still needed. */
  private List<Row> advance(
      SortedMap<Long, List<Row>> arrived, long passed, long watermark) {
    SortedMap<Long, List<Row>> stored = rows.load();
    SortedMap<Long, List<Row>> all = RowsByTime.merged(stored, arrived);
    SortedMap<Long, List<Row>> due = new TreeMap<>(all.headMap(watermark + 1));
    SortedMap<Long, List<Row>> waiting = all.tailMap(watermark + 1);
    List<Row> output = frame.results(due, passed);
    frame.forget(due, watermark);
    settle(waiting, due, watermark);
    SortedMap<Long, List<Row>> kept = new TreeMap<>(due);
    kept.putAll(waiting);
    rows.replace(stored, kept);
    return output;
  }

  /**
   * Handles a timer of a partition without due rows: deletes an idle partition, unless some row
   * waits.
   */
  private void wakeIdle(TimerValues timers, boolean waits) {
    if (idle.endsAt(timers)) {
      if (waits) {
        idle.use(timers);
      } else {
        clear();
      }
    }
  }

  /** Sets the timer for the next waiting row, or else for the expiry of kept rows. */
  private void settle(
      SortedMap<Long, List<Row>> waiting, SortedMap<Long, List<Row>> kept, long watermark) {
    Long next = waiting.isEmpty() ? null : waiting.firstKey();
    if (next == null && !kept.isEmpty()) {
      next = frame.expiry(kept.lastKey());
    }
    if (next != null) {
      wake(NONE, next);
    }
    if (waiting.isEmpty() && kept.isEmpty()) {
      times.clear();
    } else {
      times.update(RowFactory.create(Objects.requireNonNullElse(next, NONE), watermark));
    }
  }
}
