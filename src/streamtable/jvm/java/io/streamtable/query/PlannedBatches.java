package io.streamtable.query;

import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.checkpointing.CommitLog;
import org.apache.spark.sql.execution.streaming.checkpointing.CommitMetadataBase;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeq;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqBase;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqLog;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadataBase;
import scala.Option;
import scala.Tuple2;

/**
 * Writes batches without rows into a query's checkpoint for Spark to run.
 *
 * <p>Spark runs a batch that is in its offset log and not in its commit log. So it is sufficient to
 * write a batch with the offsets of the previous batch into the offset log. One such batch is the
 * last batch of a query whose input has ended: its watermark is above every event time, so the
 * checkpoint records permanently that the input has ended.
 */
public final class PlannedBatches {
  private PlannedBatches() {}

  /** The stages of a query at the end of its input. */
  public enum Stage {
    /** The input has not ended, or the query has not begun. */
    OPEN,
    /** The last batch is in the offset log and has not been committed. */
    ENDING,
    /** The last batch has been committed. */
    ENDED
  }

  /**
   * Returns the stage of a query.
   *
   * @param directory directory of the query's checkpoint
   * @param end the watermark of the last batch, in milliseconds
   */
  public static String stage(SparkSession spark, String directory, long end) {
    Option<Tuple2<Object, OffsetSeqBase>> latest = offsets(spark, directory).getLatest();
    if (latest.isEmpty()
        || latest.get()._2().metadataOpt().isEmpty()
        || latest.get()._2().metadataOpt().get().batchWatermarkMs() != end) {
      return Stage.OPEN.name();
    }
    Stage found = committed(spark, directory) == batch(latest.get()) ? Stage.ENDED : Stage.ENDING;
    return found.name();
  }

  /**
   * Writes the last batch after the newest batch, which must be committed. Returns false if the
   * query has had no batch, so that there is nothing to end.
   *
   * @param end the watermark of the last batch, in milliseconds
   */
  public static boolean planLast(SparkSession spark, String directory, long end) {
    return plan(spark, directory, end);
  }

  /**
   * Writes a batch with the watermark in the newest batch's commit. Returns false if the newest
   * batch is not committed, because it then runs again anyway, or if there is no batch.
   */
  public static boolean planEmpty(SparkSession spark, String directory) {
    Option<Tuple2<Object, CommitMetadataBase>> latest = commits(spark, directory).getLatest();
    return latest.isDefined()
        && latest.get()._1().equals(offsets(spark, directory).getLatestBatchId().get())
        && plan(spark, directory, latest.get()._2().nextBatchWatermarkMs());
  }

  private static boolean plan(SparkSession spark, String directory, long watermark) {
    OffsetSeqLog log = offsets(spark, directory);
    Option<Tuple2<Object, OffsetSeqBase>> latest = log.getLatest();
    if (latest.isEmpty()) {
      return false;
    }
    long batch = batch(latest.get());
    if (committed(spark, directory) != batch
        || !(latest.get()._2() instanceof OffsetSeq before)
        || before.metadataOpt().isEmpty()) {
      throw new IllegalStateException("batch " + batch + " has not ended as one of ours does");
    }
    OffsetSeqMetadataBase metadata = before.metadataOpt().get();
    OffsetSeqMetadata empty =
        OffsetSeqMetadata.apply(watermark, System.currentTimeMillis(), metadata.conf());
    return log.add(batch + 1, new OffsetSeq(before.offsets(), Option.apply(empty)));
  }

  private static OffsetSeqLog offsets(SparkSession spark, String directory) {
    return new OffsetSeqLog(spark, new Path(directory, "offsets").toString(), false);
  }

  private static CommitLog commits(SparkSession spark, String directory) {
    return new CommitLog(spark, new Path(directory, "commits").toString(), false);
  }

  /** Returns the newest committed batch; -1 for none. */
  private static long committed(SparkSession spark, String directory) {
    Option<Object> latest = commits(spark, directory).getLatestBatchId();
    return latest.isEmpty() ? -1 : (Long) latest.get();
  }

  private static long batch(Tuple2<Object, OffsetSeqBase> entry) {
    return (Long) entry._1();
  }
}
