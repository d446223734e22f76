package io.streamtable.testing;

import io.streamtable.operators.state.BatchTimers;
import org.apache.spark.sql.streaming.TimerValues;

/** Processing time and watermark of one query in an {@link OperatorHarness}, in milliseconds. */
final class HarnessTime implements TimerValues {
  private static final long serialVersionUID = 1L;

  private volatile long now;
  private volatile long watermark;
  private volatile long reached;

  /** Sets the processing time. */
  void at(long moment) {
    now = moment;
  }

  /**
   * Advances the watermark, which never decreases; 0 means that there is none yet, as in Spark.
   *
   * @param reach the watermark at which the timers of the batch fire, if it is higher
   */
  void advance(long moment, long reach) {
    watermark = Math.max(watermark, moment);
    reached = Math.max(watermark, reach);
  }

  /** Returns the times of the rows of a batch. */
  TimerValues ofRows() {
    return reached > watermark ? new BatchTimers(now, watermark, reached) : this;
  }

  /** Returns the times of the timers of a batch. */
  TimerValues ofTimers() {
    return reached > watermark ? new BatchTimers(now, reached, reached) : this;
  }

  @Override
  public long getCurrentProcessingTimeInMs() {
    return now;
  }

  @Override
  public long getCurrentWatermarkInMs() {
    return watermark;
  }
}
