package io.streamtable.query;

import java.lang.reflect.Field;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** How long the batches of a running query of real-time mode last. */
public final class RealTimeInterval {
  private RealTimeInterval() {}

  /**
   * Lets batches that begin from now on last so many milliseconds. Spark takes the time from its
   * trigger once, at the start, and keeps it with each source in the plan that all batches share.
   */
  public static void set(StreamingQueryWrapper query, long milliseconds)
      throws ReflectiveOperationException {
    Field duration = StreamingDataSourceV2Relation.class.getDeclaredField("realTimeModeDuration");
    duration.setAccessible(true);
    MicroBatchExecution execution = (MicroBatchExecution) query.streamingQuery();
    List<LogicalPlan> sources = CollectionConverters.asJava(execution.logicalPlan().collectLeaves());
    for (LogicalPlan source : sources) {
      if (source instanceof StreamingDataSourceV2ScanRelation scan) {
        duration.set(scan.relation(), Option.<Object>apply(milliseconds));
      }
    }
  }
}
