package io.streamtable.operators.state;

import io.streamtable.watermarks.ReachedWatermark;
import org.apache.spark.sql.streaming.TimerValues;

/**
 * The times of a batch whose timers fire at a higher watermark than the one with which the batch
 * began.
 *
 * @param getCurrentProcessingTimeInMs the time of the batch
 * @param getCurrentWatermarkInMs the watermark with which the batch began, which decides which rows
 *     are late
 * @param reached the watermark at which timers fire when all rows have been processed
 */
public record BatchTimers(
    long getCurrentProcessingTimeInMs, long getCurrentWatermarkInMs, long reached)
    implements TimerValues {
  /** Returns the times of a batch; the given ones if the batch has reached no other watermark. */
  public static TimerValues of(TimerValues timers, ReachedWatermark reached) {
    return reached == null || reached.millis() == ReachedWatermark.NONE
        ? timers
        : new BatchTimers(
            timers.getCurrentProcessingTimeInMs(), reached.began(), reached.millis());
  }
}
