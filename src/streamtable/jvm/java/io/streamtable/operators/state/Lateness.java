package io.streamtable.operators.state;

import io.streamtable.metrics.Counters;
import java.io.Serializable;
import org.apache.spark.sql.streaming.TimerValues;

/**
 * Decides which rows are late, and counts them.
 *
 * @param checked false if the input comes from another operator that waits for the same watermark,
 *     because its rows arrive when the watermark has just passed them
 * @param complete whether, in addition, all of these rows of a key arrive in one call
 * @param counters counters of late rows
 */
public record Lateness(boolean checked, boolean complete, Counters counters)
    implements Serializable {
  /** Returns whether the watermark is at or past the time that a row would wait for. */
  public boolean isLate(long moment, TimerValues timers) {
    return checked && moment <= EventTimers.watermark(timers);
  }

  /**
   * Returns whether all rows of a key that wait for a time are in this call or in state, so that
   * they need not wait any longer. This is so if the watermark passes the time in this batch.
   */
  public boolean isComplete(long moment, TimerValues timers) {
    long watermark = EventTimers.watermark(timers);
    return (complete && moment <= watermark)
        || (watermark < moment && moment <= EventTimers.reached(timers));
  }

  public void count(long rows) {
    counters.add("lateRows", rows);
  }
}
