package io.streamtable.operators.state;

import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TimerValues;

/**
 * Timers and watermarks with Flink's semantics on top of Spark's.
 *
 * <p>A timer fires when the watermark is at or past its time. Spark's watermark is 0 until every
 * input has had an event time, so 0 means that there is no watermark yet.
 */
public final class EventTimers {
  private EventTimers() {}

  /** Registers a timer of the current key, which fires when the watermark reaches this time. */
  public static void register(StatefulProcessorHandle handle, long moment) {
    handle.registerTimer(Math.max(1, moment));
  }

  /** Deletes a timer that {@link #register} set. */
  public static void delete(StatefulProcessorHandle handle, long moment) {
    handle.deleteTimer(Math.max(1, moment));
  }

  /** Returns the watermark in milliseconds; below every event time if there is none yet. */
  public static long watermark(TimerValues timers) {
    long watermark = timers.getCurrentWatermarkInMs();
    return watermark <= 0 ? Long.MIN_VALUE : watermark;
  }

  /**
   * Returns the watermark at which timers fire behind the rows of a call; {@link #watermark} or a
   * higher one.
   */
  public static long reached(TimerValues timers) {
    return timers instanceof BatchTimers batch ? batch.reached() : watermark(timers);
  }

  /**
   * Returns whether the rows of a batch advance the watermark. Timers up to {@link #reached} then
   * fire when all rows have been processed, and each call has all rows of its key. So what such a
   * timer would do can be done in the call, without a write to the state.
   */
  public static boolean advances(TimerValues timers) {
    return reached(timers) > watermark(timers);
  }
}
