package io.streamtable.watermarks;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.plans.QueryPlan;

/**
 * The watermark that a batch has reached with all rows that it has read, for the operators behind a
 * shuffle. They need not wait for the next batch.
 *
 * <p>Spark serializes an operator when it submits the operator's stage. By then, the tasks before
 * the shuffle have reported the watermarks of their rows to the driver.
 */
public final class ReachedWatermark implements Serializable {
  /** The value of a watermark that is not known; below every event time. */
  public static final long NONE = Long.MIN_VALUE;

  private final transient SplitWatermarks scan;

  // Only in a task.
  private transient long began = NONE;
  private transient long reached = NONE;

  private ReachedWatermark(SplitWatermarks scan) {
    this.scan = scan;
  }

  /** Returns the watermark of the batches of a plan; null if no scan of it has event times. */
  public static ReachedWatermark of(QueryPlan<?> plan) {
    // The watermark of all scans is known at each of them.
    return SplitTracker.scans(plan).stream().findFirst().map(ReachedWatermark::new).orElse(null);
  }

  /** Returns the watermark with which the batch began, in milliseconds; 0 if there was none. */
  public long began() {
    return began;
  }

  /**
   * Returns the watermark in milliseconds; {@link #NONE} on the driver, or if the batch has not
   * advanced it.
   */
  public long millis() {
    return reached;
  }

  private void writeObject(ObjectOutputStream out) throws IOException {
    out.defaultWriteObject();
    SplitTracker tracker = scan == null ? null : scan.tracker();
    out.writeLong(tracker == null ? NONE : tracker.began());
    out.writeLong(tracker == null ? NONE : tracker.reached());
  }

  private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
    in.defaultReadObject();
    began = in.readLong();
    reached = in.readLong();
  }
}
