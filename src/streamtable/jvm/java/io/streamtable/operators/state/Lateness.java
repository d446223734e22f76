package io.streamtable.operators.state;

import io.streamtable.metrics.Counters;
import java.io.Serializable;
import org.apache.spark.sql.streaming.TimerValues;

/**
 * Decides which rows are late, and counts them.
 *
 * @param checked false if the input comes from another operator that waits for the same watermark,
 *     because its rows arrive when the watermark has just passed them
 * @param counters counters of late rows
 */
public record Lateness(boolean checked, Counters counters) implements Serializable {
  /** Returns whether the watermark is at or past the time that a row would wait for. */
  public boolean isLate(long moment, TimerValues timers) {
    return checked && moment <= EventTimers.watermark(timers);
  }

  public void count(long rows) {
    counters.add("lateRows", rows);
  }
}
