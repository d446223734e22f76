package io.streamtable.operators;

import io.streamtable.codec.Counters;
import java.io.Serializable;
import org.apache.spark.sql.streaming.TimerValues;

/**
 * Which rows an operator has stopped waiting for, and how many there were.
 *
 * @param checked false where the input is another operator's that waits for the same watermark: its
 *     rows come when the watermark has just passed them
 * @param counters where late rows are counted
 */
record Lateness(boolean checked, Counters counters) implements Serializable {
  /** Whether the watermark is already at or behind the moment that a row would wait for. */
  boolean isLate(long moment, TimerValues timers) {
    return checked && moment <= EventTimers.watermark(timers);
  }

  void count(long rows) {
    counters.add("lateRows", rows);
  }
}
