package io.streamtable.query;

import java.lang.reflect.Field;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecutionContext;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkPropagator;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkTracker;

/** Reads the watermark of a running query, and advances it independently of its rows. */
public final class QueryWatermark {
  private QueryWatermark() {}

  /**
   * Sets the minimum watermark of the next batch, in milliseconds. If no rows arrive, Spark runs a
   * batch without rows for it, provided the query has had a batch since its start.
   *
   * <p>Returns false if the query is constructing a batch or still starting; the caller then tries
   * again.
   */
  public static boolean advance(StreamingQueryWrapper query, long watermark)
      throws ReflectiveOperationException {
    MicroBatchExecution execution = (MicroBatchExecution) query.streamingQuery();
    // Spark holds this lock while it constructs a batch from the available data.
    if (!execution.awaitProgressLock().tryLock()) {
      return false;
    }
    try {
      return advanceLocked(execution, watermark);
    } finally {
      execution.awaitProgressLock().unlock();
    }
  }

  /** Returns the watermark of the next batch, in milliseconds; 0 if there is none yet. */
  public static long current(StreamingQueryWrapper query) {
    WatermarkTracker tracker = ((MicroBatchExecution) query.streamingQuery()).watermarkTracker();
    return tracker == null ? 0 : tracker.currentWatermark();
  }

  private static boolean advanceLocked(MicroBatchExecution execution, long watermark)
      throws ReflectiveOperationException {
    WatermarkTracker tracker = execution.watermarkTracker();
    if (tracker == null
        || !(execution.getLatestExecutionContext() instanceof MicroBatchExecutionContext batch)) {
      return false;
    }
    if (watermark > tracker.currentWatermark()) {
      if (!batch.isCurrentBatchConstructed()) {
        // While Spark waits for a reason to run the batch, it requires the watermark that it has
        // already propagated for this batch.
        propagator(execution).purge(batch.batchId());
      }
      tracker.setWatermark(watermark);
    }
    return true;
  }

  private static WatermarkPropagator propagator(MicroBatchExecution execution)
      throws ReflectiveOperationException {
    Field field = MicroBatchExecution.class.getDeclaredField("watermarkPropagator");
    field.setAccessible(true);
    return (WatermarkPropagator) field.get(execution);
  }
}
