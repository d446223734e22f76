package io.streamtable.operators.join.temporal;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.state.EventTimers;
import io.streamtable.operators.state.IdleTime;
import io.streamtable.operators.state.Lateness;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Joins each left row with the version of the right row that was valid at the left row's event
 * time.
 *
 * <p>Input rows are (row kind, key columns..., left STRUCT, right STRUCT, event time, position).
 * The event time is in milliseconds, and null for a deletion of a version without an event time.
 * The position is the order in which versions of one key were written. State: that of
 * {@link TemporalLeft} and {@link Versions}. A version is removed if a later version replaced it
 * before the watermark. All versions of a key are removed if no row waits and the key's
 * {@link IdleTime} is over. Rows that the watermark passes in the batch of their arrival are emitted
 * at once.
 */
public final class TemporalJoinProcessor extends RowProcessor {
  private final TemporalLeft rows;
  private final Lateness lateness;
  private final Versions versions;
  private final VersionedPair pair;
  private final int leftAt;
  private final IdleTime idle;

  /**
   * @param lateness defines which left rows are late; they are dropped
   * @param leftAt position of the left row in input rows
   * @param ttl how long a key is kept without rows; see {@link IdleTime}
   */
  TemporalJoinProcessor(
      TemporalLeft rows,
      Lateness lateness,
      Versions versions,
      VersionedPair pair,
      int leftAt,
      long ttl) {
    this.rows = rows;
    this.lateness = lateness;
    this.versions = versions;
    this.pair = pair;
    this.leftAt = leftAt;
    this.idle = new IdleTime(ttl);
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    rows.open(getHandle());
    versions.open(getHandle());
    idle.open(getHandle());
    pair.open();
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    versions.begin();
    if (idle.isOver(timers) && !rows.waits()) {
      versions.clear();
    }
    List<Row> changes = new ArrayList<>();
    while (input.hasNext()) {
      Row row = input.next();
      if (row.isNullAt(leftAt)) {
        changes.add(row);
      } else if (lateness.isLate(row.getLong(leftAt + 2), timers)) {
        lateness.count(1);
      } else {
        rows.add(row.getByte(RowKind.POSITION), row.getLong(leftAt + 2), row.getStruct(leftAt));
      }
    }
    rows.complete(timers);
    changes.sort(Comparator.comparingLong(row -> row.getLong(leftAt + 3)));
    for (Row row : changes) {
      Long moment = row.isNullAt(leftAt + 2) ? null : row.getLong(leftAt + 2);
      versions.change(row.getByte(RowKind.POSITION), moment, row.getStruct(leftAt + 1));
    }
    List<Row> output = List.of();
    if (EventTimers.advances(timers)) {
      long reached = EventTimers.reached(timers);
      List<Long> passed = rows.passed(reached);
      output = rows.emit(passed, versions, timers);
      if (!changes.isEmpty() || !passed.isEmpty()) {
        versions.forget(reached);
      }
    } else if (!changes.isEmpty()) {
      // As the watermark advances, versions that no left row can match any more are removed.
      getHandle().registerTimer(Math.max(1, EventTimers.watermark(timers) + 1));
    }
    versions.write();
    idle.use(timers);
    return CollectionConverters.asScala(output.iterator());
  }

  @Override
  public scala.collection.Iterator<Row> handleExpiredTimer(
      Row key, TimerValues timers, ExpiredTimerInfo timer) {
    versions.begin();
    boolean over = idle.endsAt(timers);
    long watermark = EventTimers.watermark(timers);
    List<Long> passed = rows.passed(watermark);
    List<Row> output = rows.emit(passed, versions, timers);
    versions.forget(watermark);
    rest(timers, over && passed.isEmpty(), !passed.isEmpty());
    versions.write();
    return CollectionConverters.asScala(output.iterator());
  }

  /**
   * Updates the last use of the key if a row was emitted or still waits; clears the key if its time
   * is over.
   */
  private void rest(TimerValues timers, boolean over, boolean used) {
    boolean waits = rows.waits();
    if (over && !waits) {
      versions.clear();
    }
    if (used || (over && waits)) {
      idle.use(timers);
    }
    if (!waits && versions.isEmpty()) {
      idle.clear();
    }
  }
}
