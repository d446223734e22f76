package io.streamtable.operators.state;

import io.streamtable.operators.row.Plain;
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
 * Tracks the processing time since the last use of a key, for operators that wait for the
 * watermark.
 *
 * <p>Spark gives such an operator neither state TTL nor processing-time timers. So the time is
 * checked whenever a timer of the key fires, and a timer is set at the watermark plus the remaining
 * time of the key. If event time runs ahead of processing time, the timer fires too early and is
 * set again. If event time stands still, expired state stays in the store, but is not used.
 *
 * <p>State (layout v1), only with a TTL: "used" or another name, the time of the last use and the
 * time of the timer, in milliseconds.
 */
public final class IdleTime implements Serializable {
  private final long ttl;
  private final String name;
  private transient StatefulProcessorHandle handle;
  private transient ValueState<Row> used;

  /**
   * @param ttl the time without use, in milliseconds, after which a key's state is deleted; 0 for
   *     never
   */
  public IdleTime(long ttl) {
    this(ttl, "used");
  }

  /** @param name name of the state, for a second time of a key */
  public IdleTime(long ttl, String name) {
    this.ttl = ttl;
    this.name = name;
  }

  public void open(StatefulProcessorHandle handle) {
    if (ttl > 0) {
      this.handle = handle;
      StructType schema =
          new StructType().add("at", DataTypes.LongType).add("timer", DataTypes.LongType);
      used = handle.getValueState(name, Plain.row(schema), TTLConfig.NONE());
    }
  }

  /** Marks the key as used now. */
  public void use(TimerValues timers) {
    if (ttl > 0) {
      Row known = used.get();
      boolean set = known != null && known.getLong(1) > EventTimers.watermark(timers);
      long now = timers.getCurrentProcessingTimeInMs();
      wake(now, set ? known.getLong(1) : ahead(timers, ttl));
    }
  }

  /** Marks the key as used now, unless it is marked. */
  public void start(TimerValues timers) {
    if (ttl > 0 && used.get() == null) {
      use(timers);
    }
  }

  /** Returns whether the key has been unused for too long. */
  public boolean isOver(TimerValues timers) {
    Row known = ttl > 0 ? used.get() : null;
    return known != null && left(known, timers) <= 0;
  }

  /**
   * Called when a timer of the key has fired. Returns whether the key has been unused for too long;
   * if not, sets the timer again.
   */
  public boolean endsAt(TimerValues timers) {
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

  /** Clears the last use of the key. */
  public void clear() {
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
    // Set again even if it is set: the operator may have deleted its own timer of the same time.
    EventTimers.register(handle, timer);
    used.update(RowFactory.create(at, timer));
  }
}
