package io.streamtable.testing;

import org.apache.spark.sql.streaming.TimerValues;

/** Processing time and watermark of one query in an {@link OperatorHarness}, in milliseconds. */
final class HarnessTime implements TimerValues {
  private static final long serialVersionUID = 1L;

  private volatile long now;
  private volatile long watermark;

  /** Sets the processing time. */
  void at(long moment) {
    now = moment;
  }

  /** Advances the watermark, which never decreases; 0 means that there is none yet, as in Spark. */
  void advance(long moment) {
    watermark = Math.max(watermark, moment);
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
