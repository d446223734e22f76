package io.streamtable.operators;

import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TimerValues;

/**
 * Timers and watermarks with Flink's meaning on top of Spark's.
 *
 * <p>A timer of a moment fires once the watermark is at it or behind it. Spark's watermark is 0
 * until every input has shown an event time, so that 0 says that there is none yet.
 */
final class EventTimers {
  private EventTimers() {}

  /** Has the current key woken once the watermark is at this moment. */
  static void register(StatefulProcessorHandle handle, long moment) {
    handle.registerTimer(Math.max(1, moment));
  }

  /** Takes back {@link #register}. */
  static void delete(StatefulProcessorHandle handle, long moment) {
    handle.deleteTimer(Math.max(1, moment));
  }

  /** The watermark in milliseconds; below every moment as long as there is none. */
  static long watermark(TimerValues timers) {
    long watermark = timers.getCurrentWatermarkInMs();
    return watermark <= 0 ? Long.MIN_VALUE : watermark;
  }
}
