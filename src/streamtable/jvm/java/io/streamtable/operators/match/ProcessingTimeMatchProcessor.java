package io.streamtable.operators.match;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.row.RowValue;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
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
 * Reads append-only rows of one partition, and emits a row for each match of a pattern at once, in
 * arrival order.
 *
 * <p>Input rows are (row kind, columns..., processing time in milliseconds, position...). State
 * (layout v1): the state of {@link MatchState}; with a limit of time, "timer", the processing time
 * at which the oldest partial match expires.
 */
public final class ProcessingTimeMatchProcessor extends RowProcessor {
  private final StructType row;
  private final MatchState matches;
  private final RowOrder peers;
  private final Comparator<Row> arrival;
  private final boolean limited;
  private transient ValueState<Long> timer;

  /**
   * @param row the row kind and the columns
   * @param peers order of rows with the same processing time; null for the arrival order
   * @param arrival order of the rows of a batch
   * @param limited whether partial matches expire
   */
  ProcessingTimeMatchProcessor(
      StructType row,
      MatchState matches,
      RowOrder peers,
      Comparator<Row> arrival,
      boolean limited) {
    this.row = row;
    this.matches = matches;
    this.peers = peers;
    this.arrival = arrival;
    this.limited = limited;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    matches.open(getHandle());
    if (limited) {
      timer = getHandle().getValueState("timer", DirectEncoder.longs(), TTLConfig.NONE());
    }
  }

  @Override
  public boolean takesBundles() {
    return false; // the rows of a call are sorted by position, which differs from their times
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    int momentAt = row.length();
    List<Row> added = new ArrayList<>(CollectionConverters.asJava(input.toSeq()));
    added.sort(arrival);
    if (peers != null) {
      Comparator<Row> byTime = Comparator.comparingLong(next -> next.getLong(momentAt));
      added.sort(byTime.thenComparing(peers::byColumns));
    }
    MatchState.Run run = matches.load();
    long last = Long.MIN_VALUE;
    for (Row next : added) {
      last = Math.max(last, next.getLong(momentAt));
      run.process(RowValue.slice(next, 0, momentAt), last);
    }
    wake(run);
    return CollectionConverters.asScala(run.save().iterator());
  }

  private void wake(MatchState.Run run) {
    if (!limited) {
      return;
    }
    Long known = timer.get();
    long expiry = run.expiry();
    if (known != null && known != expiry) {
      getHandle().deleteTimer(known);
      timer.clear();
    }
    if (expiry < Long.MAX_VALUE && (known == null || known != expiry)) {
      getHandle().registerTimer(expiry);
      timer.update(expiry);
    }
  }

  @Override
  public scala.collection.Iterator<Row> handleExpiredTimer(
      Row key, TimerValues timers, ExpiredTimerInfo info) {
    timer.clear();
    MatchState.Run run = matches.load();
    run.expire(timers.getCurrentProcessingTimeInMs());
    wake(run);
    return CollectionConverters.asScala(run.save().iterator());
  }
}
