package io.streamtable.operators.match;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.state.EventTimers;
import io.streamtable.operators.state.Lateness;
import io.streamtable.operators.state.RowsByTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads append-only rows of one partition, and emits a row for each match of a pattern when the
 * watermark has passed its rows.
 *
 * <p>Input rows are (row kind, columns..., event time in milliseconds, position...). State (layout
 * v1): "waiting", event time -> rows that the watermark has not passed; "timer", the time of the
 * current timer; and the state of {@link MatchState}. Rows behind the watermark are late. Rows that
 * the watermark passes in the batch of their arrival are processed at once.
 */
public final class MatchProcessor extends RowProcessor {
  private final RowsByTime waiting;
  private final MatchState matches;
  private final RowOrder peers;
  private transient ValueState<Long> timer;

  /**
   * @param row the row kind and the columns
   * @param peers order of rows with the same event time
   * @param arrival order of the rows of a batch that are equal in this order
   */
  MatchProcessor(
      StructType row,
      MatchState matches,
      RowOrder peers,
      Comparator<Row> arrival,
      Lateness lateness) {
    this.waiting = new RowsByTime(row, arrival, lateness);
    this.matches = matches;
    this.peers = peers;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    waiting.open(getHandle(), "waiting");
    timer = getHandle().getValueState("timer", DirectEncoder.longs(), TTLConfig.NONE());
    matches.open(getHandle());
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    SortedMap<Long, List<Row>> arrived = waiting.arrived(input, timers);
    if (arrived.isEmpty()) {
      return CollectionConverters.asScala(List.<Row>of().iterator());
    }
    Long known = timer.get();
    long first = arrived.firstKey();
    boolean due = waiting.isComplete(first, timers);
    if (known != null && (due || first < known)) {
      EventTimers.delete(getHandle(), known);
    }
    if (due) {
      return advance(arrived, EventTimers.reached(timers));
    }
    waiting.add(arrived);
    if (known == null || first < known) {
      wake(first);
    }
    return CollectionConverters.asScala(List.<Row>of().iterator());
  }

  private void wake(long moment) {
    EventTimers.register(getHandle(), moment);
    timer.update(moment);
  }

  @Override
  public scala.collection.Iterator<Row> handleExpiredTimer(
      Row key, TimerValues timers, ExpiredTimerInfo info) {
    long watermark = EventTimers.watermark(timers);
    Long known = timer.get();
    if (known == null || known > watermark) {
      return CollectionConverters.asScala(List.<Row>of().iterator());
    }
    return advance(new TreeMap<>(), watermark);
  }

  /** Processes the stored and the arrived rows up to a watermark, and stores the others. */
  private scala.collection.Iterator<Row> advance(
      SortedMap<Long, List<Row>> arrived, long watermark) {
    SortedMap<Long, List<Row>> stored = waiting.load();
    SortedMap<Long, List<Row>> all = RowsByTime.merged(stored, arrived);
    MatchState.Run run = matches.load();
    for (Map.Entry<Long, List<Row>> due : all.headMap(watermark + 1).entrySet()) {
      List<Row> sorted = new ArrayList<>(due.getValue());
      sorted.sort(peers::byColumns);
      sorted.forEach(next -> run.process(next, due.getKey()));
    }
    run.expire(watermark);
    SortedMap<Long, List<Row>> later = all.tailMap(watermark + 1);
    waiting.replace(stored, later);
    long next = Math.min(run.expiry(), later.isEmpty() ? Long.MAX_VALUE : later.firstKey());
    if (next < Long.MAX_VALUE) {
      wake(next);
    } else {
      timer.clear();
    }
    return CollectionConverters.asScala(run.save().iterator());
  }
}
