package io.streamtable.query;

import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.SparkDataStream;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecutionContext;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.streaming.StreamingQuery;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Ends a run that reads the available input with the last batch of the query, which has the final
 * watermark ({@link PlannedBatches}). A run of its own for the last batch would load all state
 * again.
 *
 * <p>At the commit of the batch that has read everything, the watermark of the next batch becomes
 * the final one. Spark then runs a batch without rows, if an operator waits for the watermark.
 */
public final class EndOfInput {
  private EndOfInput() {}

  /**
   * Sets the final watermark, in milliseconds, of a query that does not run yet and whose next run
   * ends at the available input.
   */
  public static void expect(SparkSession session, String directory, long end) {
    Commits.listen(directory, EndOfInput.class, batch -> committed(session, directory, end));
  }

  /** Forgets a query. Its next run continues to read. */
  public static void forget(String directory) {
    Commits.forget(directory, EndOfInput.class);
  }

  private static void committed(SparkSession session, String directory, long end) {
    for (StreamingQuery query : session.streams().active()) {
      if (query instanceof StreamingQueryWrapper wrapper
          && wrapper.streamingQuery() instanceof MicroBatchExecution execution
          && Commits.isSame(execution.resolvedCheckpointRoot(), directory)
          && execution.getLatestExecutionContext() instanceof MicroBatchExecutionContext batch
          && hasReadAll(batch)) {
        execution.watermarkTracker().setWatermark(end);
      }
    }
  }

  /**
   * Returns whether no later batch of the run has rows: each source has reached the end that it
   * reported for this batch. A batch that an earlier run has planned has no such reports.
   */
  private static boolean hasReadAll(MicroBatchExecutionContext batch) {
    for (SparkDataStream source : CollectionConverters.asJava(batch.endOffsets().keySet())) {
      Option<Offset> latest = batch.latestOffsets().get(source);
      if (latest.isEmpty() || !latest.equals(batch.endOffsets().get(source))) {
        return false;
      }
    }
    return true;
  }
}
