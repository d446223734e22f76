package io.streamtable.operators;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Added rows of one partition in; each comes out with its aggregates when the watermark has passed
 * it, in the order of their moments.
 *
 * <p>Input rows are (row kind, columns..., moment in milliseconds, position...). State (layout v1):
 * "rows", moment -> rows that wait, and rows that those of a bounded frame look back at; "times",
 * the moment of the timer that is set and the last moment that has passed; for an
 * unbounded frame that of {@link AggregateState}. Where no row waits, all of it is gone when the
 * {@link IdleTime} is over. Rows behind the watermark are late.
 */
public final class OverProcessor extends StatefulProcessor<Row, Row, Row> {
  private static final long NONE = Long.MIN_VALUE;

  private final StructType row;
  private final OverFrame frame;
  private final Comparator<Row> order;
  private final Lateness lateness;
  private final IdleTime idle;
  private transient MapState<Long, Row> rows;
  private transient ValueState<Row> times;

  /**
   * @param row the row kind and the columns
   * @param order of the rows of one moment in a batch
   * @param ttl how long a partition is kept without rows; see {@link IdleTime}
   */
  OverProcessor(
      StructType row, OverFrame frame, Comparator<Row> order, Lateness lateness, long ttl) {
    this.row = row;
    this.frame = frame;
    this.order = order;
    this.lateness = lateness;
    this.idle = new IdleTime(ttl);
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    StructType list = new StructType().add("rows", DataTypes.createArrayType(row));
    rows = getHandle().getMapState("rows", Encoders.LONG(), Plain.row(list), TTLConfig.NONE());
    StructType moments =
        new StructType().add("timer", DataTypes.LongType).add("passed", DataTypes.LongType);
    times = getHandle().getValueState("times", Plain.row(moments), TTLConfig.NONE());
    frame.open(getHandle());
    idle.open(getHandle());
  }

  @Override
  public scala.collection.Iterator<Row> handleInputRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    if (idle.isOver(timers) && !waits(times.get())) {
      clear();
    }
    int momentAt = row.length();
    List<Row> added = new ArrayList<>();
    while (input.hasNext()) {
      Row next = input.next();
      if (lateness.isLate(next.getLong(momentAt), timers)) {
        lateness.count(1);
      } else {
        added.add(next);
      }
    }
    added.sort(order);
    SortedMap<Long, List<Row>> fresh = new TreeMap<>();
    for (Row next : added) {
      fresh
          .computeIfAbsent(next.getLong(momentAt), moment -> new ArrayList<>())
          .add(RowValue.slice(next, 0, momentAt));
    }
    fresh.forEach(this::append);
    if (!fresh.isEmpty()) {
      Row known = times.get();
      long timer = known == null ? NONE : known.getLong(0);
      long first = fresh.firstKey();
      wake(timer, timer == NONE ? first : Math.min(timer, first));
      times.update(
          RowFactory.create(
              timer == NONE ? first : Math.min(timer, first),
              known == null ? Long.MIN_VALUE : known.getLong(1)));
    }
    idle.use(timers);
    return CollectionConverters.asScala(List.<Row>of().iterator());
  }

  /** Whether a timer is set for rows; of a frame of time also for those that it looks back at. */
  private static boolean waits(Row times) {
    return times != null && times.getLong(0) != NONE;
  }

  private void clear() {
    rows.clear();
    times.clear();
    frame.clear();
    idle.clear();
  }

  private void append(long moment, List<Row> added) {
    Row stored = rows.getValue(moment);
    List<Row> all = stored == null ? new ArrayList<>() : new ArrayList<>(stored.getList(0));
    all.addAll(added);
    put(moment, all);
  }

  private void put(long moment, List<Row> list) {
    rows.updateValue(moment, RowFactory.create((Object) list.toArray(new Row[0])));
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
    SortedMap<Long, List<Row>> all = load();
    SortedMap<Long, List<Row>> due = new TreeMap<>(all.headMap(watermark + 1));
    List<Row> output = frame.results(due, known.getLong(1));
    frame.forget(due, watermark);
    for (Long moment : new ArrayList<>(all.headMap(watermark + 1).keySet())) {
      if (!due.containsKey(moment)) {
        rows.removeKey(moment);
      } else if (due.get(moment) != all.get(moment)) {
        put(moment, due.get(moment));
      }
    }
    settle(all.tailMap(watermark + 1), due, watermark);
    idle.use(timers);
    return CollectionConverters.asScala(output.iterator());
  }

  /** What is left of a partition of which no row is due goes, unless some row waits. */
  private void wakeIdle(TimerValues timers, boolean waits) {
    if (idle.endsAt(timers)) {
      if (waits) {
        idle.use(timers);
      } else {
        clear();
      }
    }
  }

  private SortedMap<Long, List<Row>> load() {
    SortedMap<Long, List<Row>> all = new TreeMap<>();
    scala.collection.Iterator<Tuple2<Long, Row>> entries = rows.iterator();
    while (entries.hasNext()) {
      Tuple2<Long, Row> entry = entries.next();
      all.put(entry._1(), entry._2().getList(0));
    }
    return all;
  }

  /** Sets the timer for what still waits, or else for what is kept. */
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
