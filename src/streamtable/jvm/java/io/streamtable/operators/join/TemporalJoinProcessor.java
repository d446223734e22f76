package io.streamtable.operators.join;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.state.EventTimers;
import io.streamtable.operators.state.IdleTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Joins each left row with the version of the right row that was valid at the left row's event
 * time.
 *
 * <p>Input rows are (row kind, key columns..., left STRUCT, right STRUCT, event time, position).
 * The event time is in milliseconds, and null for a deletion without an event time. The position is
 * the order in which versions of one key were written. State (layout v1): "waiting", event time ->
 * left rows that the watermark has not passed; "versions", event time -> the right row that is
 * valid from then on, null if it was deleted. A version is removed if a later version replaced it
 * before the watermark. All versions of a key are removed if no row waits and the key's
 * {@link IdleTime} is over.
 */
public final class TemporalJoinProcessor extends RowProcessor {
  private final StructType left;
  private final StructType right;
  private final boolean outer;
  private final PairCondition condition;
  private final int leftAt;
  private final IdleTime idle;
  private transient MapState<Long, Row> waiting;
  private transient MapState<Long, Row> versions;

  /**
   * @param leftAt position of the left row in input rows
   * @param outer whether a left row without a version is emitted with NULLs
   * @param condition condition of pairs in addition to equal keys; null for none
   * @param ttl how long a key is kept without rows; see {@link IdleTime}
   */
  TemporalJoinProcessor(
      StructType left,
      StructType right,
      int leftAt,
      boolean outer,
      PairCondition condition,
      long ttl) {
    this.left = left;
    this.right = right;
    this.leftAt = leftAt;
    this.outer = outer;
    this.condition = condition;
    this.idle = new IdleTime(ttl);
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    StructType rows = new StructType().add("rows", DataTypes.createArrayType(left));
    StructType version = new StructType().add("row", right, true);
    TTLConfig kept = TTLConfig.NONE();
    waiting = getHandle().getMapState("waiting", Encoders.LONG(), Plain.row(rows), kept);
    versions = getHandle().getMapState("versions", Encoders.LONG(), Plain.row(version), kept);
    idle.open(getHandle());
    if (condition != null) {
      condition.open();
    }
  }

  @Override
  public scala.collection.Iterator<Row> handleInputRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    if (idle.isOver(timers) && !waiting.keys().hasNext()) {
      versions.clear();
    }
    List<Row> changes = new ArrayList<>();
    while (input.hasNext()) {
      Row row = input.next();
      if (row.isNullAt(leftAt)) {
        changes.add(row);
      } else {
        await(row.getLong(leftAt + 2), row.getStruct(leftAt));
      }
    }
    changes.sort(Comparator.comparingLong(row -> row.getLong(leftAt + 3)));
    changes.forEach(this::version);
    if (!changes.isEmpty()) {
      // As the watermark advances, versions that no left row can match any more are removed.
      getHandle().registerTimer(Math.max(1, EventTimers.watermark(timers) + 1));
    }
    idle.use(timers);
    return CollectionConverters.asScala(List.<Row>of().iterator());
  }

  private void await(long moment, Row row) {
    Row stored = waiting.getValue(moment);
    List<Row> rows = stored == null ? new ArrayList<>() : new ArrayList<>(stored.getList(0));
    rows.add(row);
    waiting.updateValue(moment, RowFactory.create((Object) rows.toArray(new Row[0])));
    EventTimers.register(getHandle(), moment);
  }

  private void version(Row change) {
    byte kind = change.getByte(RowKind.POSITION);
    boolean deleted = kind == RowKind.DELETE;
    if (kind == RowKind.UPDATE_BEFORE) {
      return;
    }
    long moment;
    if (change.isNullAt(leftAt + 2)) {
      // A tombstone has no event time. It deletes the newest version, as in Flink.
      Long newest = newest(Long.MAX_VALUE);
      if (!deleted || newest == null) {
        return;
      }
      moment = newest;
    } else {
      moment = change.getLong(leftAt + 2);
    }
    versions.updateValue(moment, RowFactory.create(deleted ? null : change.getStruct(leftAt + 1)));
  }

  @Override
  public scala.collection.Iterator<Row> handleExpiredTimer(
      Row key, TimerValues timers, ExpiredTimerInfo timer) {
    boolean over = idle.endsAt(timers);
    long watermark = EventTimers.watermark(timers);
    List<Long> passed = new ArrayList<>();
    waiting.keys().foreach(moment -> moment <= watermark && passed.add(moment));
    passed.sort(Comparator.naturalOrder());
    List<Row> output = new ArrayList<>();
    for (Long moment : passed) {
      Long found = newest(moment);
      Row version = found == null ? null : versions.getValue(found).getStruct(0);
      for (Object row : waiting.getValue(moment).getList(0)) {
        emit(output, (Row) row, version);
      }
      waiting.removeKey(moment);
    }
    forget(watermark);
    rest(timers, over && passed.isEmpty(), !passed.isEmpty());
    return CollectionConverters.asScala(output.iterator());
  }

  /**
   * Updates the last use of the key if a row was emitted or still waits; clears the key if its time
   * is over.
   */
  private void rest(TimerValues timers, boolean over, boolean used) {
    boolean waits = waiting.keys().hasNext();
    if (over && !waits) {
      versions.clear();
    }
    if (used || (over && waits)) {
      idle.use(timers);
    }
    if (!waits && !versions.keys().hasNext()) {
      idle.clear();
    }
  }

  private void emit(List<Row> output, Row row, Row version) {
    boolean meets = version != null;
    if (meets && condition != null) {
      condition.fix(true, row);
      meets = condition.holds(true, version);
    }
    if (meets || outer) {
      Row joined = JoinOutput.joined(row, meets ? version : null, left.length(), right.length());
      output.add(RowKind.with(RowKind.INSERT, joined));
    }
  }

  /** Returns the event time of the newest version at or before a time; null for none. */
  private Long newest(long moment) {
    Long best = null;
    scala.collection.Iterator<Long> moments = versions.keys();
    while (moments.hasNext()) {
      Long next = moments.next();
      if (next <= moment && (best == null || next > best)) {
        best = next;
      }
    }
    return best;
  }

  /**
   * Removes the versions up to the watermark except the newest one, which stays only if it is a
   * row.
   */
  private void forget(long watermark) {
    Long newest = newest(watermark);
    if (newest == null) {
      return;
    }
    List<Long> old = new ArrayList<>();
    scala.collection.Iterator<Tuple2<Long, Row>> entries = versions.iterator();
    while (entries.hasNext()) {
      Tuple2<Long, Row> entry = entries.next();
      boolean replaced = entry._1() < newest;
      if (replaced || (entry._1().equals(newest) && entry._2().isNullAt(0))) {
        old.add(entry._1());
      }
    }
    old.forEach(versions::removeKey);
  }
}
