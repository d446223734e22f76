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

/** Sets the batch duration of a running query in real-time mode. */
public final class RealTimeInterval {
  private RealTimeInterval() {}

  /**
   * Sets the duration of later batches, in milliseconds. Spark reads the duration from its trigger
   * once, at startup, and stores it with each source in the plan that all batches share.
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
