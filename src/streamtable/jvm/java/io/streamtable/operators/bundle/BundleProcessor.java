package io.streamtable.operators.bundle;

import io.streamtable.operators.state.BatchTimers;
import io.streamtable.watermarks.ReachedWatermark;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimerValues;
import scala.collection.Iterator;

/** A stateful processor that takes rows, or a bundle of them ({@link RowBundle}). */
public abstract class BundleProcessor extends StatefulProcessor<Row, Row, Row> {
  private ReachedWatermark reached;

  /** Sets the watermark at which timers fire, if the batch of a task reaches one with its rows. */
  public final void firesAt(ReachedWatermark watermark) {
    reached = watermark;
  }

  @Override
  public final Iterator<Row> handleInputRows(Row key, Iterator<Row> input, TimerValues timers) {
    return handleRows(key, BundledRows.of(input), BatchTimers.of(timers, reached));
  }

  /**
   * Returns whether rows that have arrived at once may be processed in one call. A processor that
   * does not take the rows of a call in the order of their arrival returns false.
   */
  public boolean takesBundles() {
    return true;
  }

  /**
   * Processes rows of one group, at least one, and returns the output. The watermark of the timers
   * is the one with which the batch began; see {@link
   * io.streamtable.operators.state.EventTimers#reached}.
   */
  public abstract Iterator<Row> handleRows(Row key, Iterator<Row> input, TimerValues timers);
}
