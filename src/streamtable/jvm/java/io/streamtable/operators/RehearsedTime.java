package io.streamtable.operators;

import org.apache.spark.sql.streaming.TimerValues;

/** The clock and the watermark of one query of a {@link Rehearsal}, in milliseconds. */
final class RehearsedTime implements TimerValues {
  private static final long serialVersionUID = 1L;

  private volatile long now;
  private volatile long watermark;

  /** What the clock shows from now on. */
  void at(long moment) {
    now = moment;
  }

  /** Moves the watermark, which never goes back; 0 says that there is none yet, as in Spark. */
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
