package io.streamtable.operators.join.temporal;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TimerValues;

/** The left rows of one key of a temporal join, which wait until the watermark passes them. */
interface TemporalLeft extends Serializable {
  void open(StatefulProcessorHandle handle);

  /** Adds a change of a call. */
  void add(byte kind, long moment, Row row);

  /**
   * Completes the changes of a call. Those that the watermark has not passed when all rows of the
   * batch have been processed are in state then.
   */
  void complete(TimerValues timers);

  /** Returns whether a row waits. */
  boolean waits();

  /** Returns the times of waiting rows that the watermark has passed, in order. */
  List<Long> passed(long watermark);

  /**
   * Emits the waiting rows of these times, which then wait no longer. A call whose rows advance the
   * watermark also deletes their timers.
   */
  List<Row> emit(List<Long> moments, Versions versions, TimerValues timers);

  /** Returns the times of a map state that the watermark has passed, in order. */
  static List<Long> passed(MapState<Long, Row> waiting, long watermark) {
    List<Long> passed = new ArrayList<>();
    waiting.keys().foreach(moment -> moment <= watermark && passed.add(moment));
    passed.sort(Comparator.naturalOrder());
    return passed;
  }
}
