package io.streamtable.query;

import java.lang.reflect.Field;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecutionContext;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkPropagator;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkTracker;

/** The watermark of a running query, moved by something else than its rows. */
public final class QueryWatermark {
  private QueryWatermark() {}

  /**
   * Lets the next batch have at least this watermark, in milliseconds. Spark makes a batch without
   * rows for it where no rows come, once the query has had a batch since its start.
   *
   * <p>Gives false where the query is just making a batch, or only starting: to be tried again.
   */
  public static boolean advance(StreamingQueryWrapper query, long watermark)
      throws ReflectiveOperationException {
    MicroBatchExecution execution = (MicroBatchExecution) query.streamingQuery();
    // Held by Spark while it makes a batch out of what there is.
    if (!execution.awaitProgressLock().tryLock()) {
      return false;
    }
    try {
      return advanceLocked(execution, watermark);
    } finally {
      execution.awaitProgressLock().unlock();
    }
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
        // While Spark waits for a reason to make the batch, it insists on the watermark with which
        // it has asked for one before.
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
