package io.streamtable.operators;

import java.io.Serializable;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * How long ago, by the clock, a key was used whose operator waits for the watermark.
 *
 * <p>Spark gives such an operator neither state that expires nor timers of the clock. So the time is
 * looked at whenever the key wakes, and a timer is set as far ahead of the watermark as the key has
 * still to live. Where event time runs ahead of the clock that one wakes too early and is set anew;
 * where it stands still, what has expired lies there, unseen.
 *
 * <p>State (layout v1), only where there is an end: "used", when that was and the moment of the
 * timer, in milliseconds.
 */
final class IdleTime implements Serializable {
  private final long ttl;
  private transient StatefulProcessorHandle handle;
  private transient ValueState<Row> used;

  /**
   * @param ttl after how many milliseconds without use a key's state is to be forgotten; 0 for never
   */
  IdleTime(long ttl) {
    this.ttl = ttl;
  }

  void open(StatefulProcessorHandle handle) {
    if (ttl > 0) {
      this.handle = handle;
      StructType schema =
          new StructType().add("at", DataTypes.LongType).add("timer", DataTypes.LongType);
      used = handle.getValueState("used", Plain.row(schema), TTLConfig.NONE());
    }
  }

  /** Uses the key now. */
  void use(TimerValues timers) {
    if (ttl > 0) {
      Row known = used.get();
      boolean set = known != null && known.getLong(1) > EventTimers.watermark(timers);
      long now = timers.getCurrentProcessingTimeInMs();
      wake(now, set ? known.getLong(1) : ahead(timers, ttl));
    }
  }

  /** Whether the key has not been used for too long. */
  boolean isOver(TimerValues timers) {
    Row known = ttl > 0 ? used.get() : null;
    return known != null && left(known, timers) <= 0;
  }

  /** The same when a timer has woken the key; it wakes again where its time is not over. */
  boolean endsAt(TimerValues timers) {
    Row known = ttl > 0 ? used.get() : null;
    if (known == null) {
      return false;
    }
    long left = left(known, timers);
    if (left > 0 && known.getLong(1) <= EventTimers.watermark(timers)) {
      wake(known.getLong(0), ahead(timers, left));
    }
    return left <= 0;
  }

  /** Forgets that the key was ever used. */
  void clear() {
    if (ttl > 0) {
      used.clear();
    }
  }

  private long left(Row known, TimerValues timers) {
    return known.getLong(0) + ttl - timers.getCurrentProcessingTimeInMs();
  }

  private static long ahead(TimerValues timers, long left) {
    return Math.max(0, EventTimers.watermark(timers)) + left;
  }

  private void wake(long at, long timer) {
    // Again where it is set already: the operator may have taken back one of its own there.
    EventTimers.register(handle, timer);
    used.update(RowFactory.create(at, timer));
  }
}
