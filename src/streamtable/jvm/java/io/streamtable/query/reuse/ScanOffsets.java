package io.streamtable.query.reuse;

import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.SparkDataStream;
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** Offsets of the scans in a plan, which are the only difference between two batches of a query. */
final class ScanOffsets {
  private final Map<SparkDataStream, StreamingDataSourceV2ScanRelation> scans =
      new IdentityHashMap<>();

  private ScanOffsets() {}

  static ScanOffsets of(LogicalPlan plan) {
    ScanOffsets found = new ScanOffsets();
    for (LogicalPlan leaf : CollectionConverters.asJava(plan.collectLeaves())) {
      if (leaf instanceof StreamingDataSourceV2ScanRelation scan) {
        found.scans.put(scan.stream(), scan);
      }
    }
    return found;
  }

  /** Returns a plan of the same query that reads from and to these offsets. */
  LogicalPlan in(LogicalPlan plan) {
    return replaced(
        plan,
        scan -> {
          StreamingDataSourceV2ScanRelation found = scans.get(scan.stream());
          return with(scan, found.startOffset(), found.endOffset());
        });
  }

  /** Returns the plan without offsets, which all batches of a query with the same scans share. */
  static LogicalPlan removed(LogicalPlan plan) {
    return replaced(plan, scan -> with(scan, Option.empty(), Option.empty()));
  }

  private static LogicalPlan replaced(
      LogicalPlan plan, UnaryOperator<StreamingDataSourceV2ScanRelation> change) {
    return plan instanceof StreamingDataSourceV2ScanRelation scan
        ? change.apply(scan)
        : plan.mapChildren(child -> replaced(child, change));
  }

  private static StreamingDataSourceV2ScanRelation with(
      StreamingDataSourceV2ScanRelation scan, Option<Offset> start, Option<Offset> end) {
    return scan.copy(scan.relation(), scan.scan(), scan.output(), scan.stream(), start, end);
  }
}
