package io.streamtable.watermarks;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.SparkDataStream;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.MultipleWatermarkPolicy$;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkTracker;
import org.apache.spark.sql.streaming.StreamingQuery;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Computes the watermark of a query: the minimum of all splits of all its scans.
 *
 * <p>It replaces Spark's own tracker, which only tracks the greatest event time of a whole scan.
 * Spark calls it at the end of each batch, in all modes, just before it writes the commit, and
 * passes the result to the next batch. So a batch that runs again has the same watermark as before.
 */
final class SplitTracker extends WatermarkTracker {
  private final MicroBatchExecution execution;
  private final List<SplitWatermarks> scans;
  private final Map<SplitWatermarks, SparkDataStream> streams = new HashMap<>();

  private SplitTracker(MicroBatchExecution execution, List<SplitWatermarks> scans) {
    super(MultipleWatermarkPolicy$.MODULE$.apply("min"), execution.analyzedPlan());
    this.execution = execution;
    this.scans = scans;
    setWatermark(execution.watermarkTracker().currentWatermark());
  }

  /** Sets the tracker of the running query that reads a scan, unless the query already has it. */
  static synchronized void follow(SparkSession session, SplitWatermarks scan) {
    for (StreamingQuery query : session.streams().active()) {
      if (query instanceof StreamingQueryWrapper wrapper
          && wrapper.streamingQuery() instanceof MicroBatchExecution execution
          && execution.watermarkTracker() != null
          && !(execution.watermarkTracker() instanceof SplitTracker)) {
        List<SplitWatermarks> scans = scans(execution.analyzedPlan());
        if (scans.contains(scan)) {
          SplitTracker tracker = new SplitTracker(execution, scans);
          scans.forEach(one -> one.begin(tracker));
          execution.watermarkTracker_$eq(tracker);
        }
      }
    }
  }

  /** Returns whether the query is still running. */
  boolean isActive() {
    return execution.isActive();
  }

  /** Returns whether the query has committed a batch. */
  boolean hasCommitted(long batch) {
    Option<Object> latest = execution.commitLog().getLatestBatchId();
    return latest.isDefined() && (Long) latest.get() >= batch;
  }

  @Override
  public void updateWatermark(SparkPlan executed) {
    long batch = execution.getLatestExecutionContext().batchId();
    for (SplitWatermarks scan : scans) {
      scan.settle(batch, reached(scan));
    }
    List<OptionalLong> found = scans.stream().map(SplitWatermarks::least).toList();
    if (found.stream().allMatch(OptionalLong::isPresent)) {
      long least = found.stream().mapToLong(OptionalLong::getAsLong).min().getAsLong();
      setWatermark(Math.max(currentWatermark(), least));
    }
  }

  /**
   * Returns the position of a scan's source at the end of the batch, as Spark writes it into the
   * checkpoint.
   */
  private String reached(SplitWatermarks scan) {
    SparkDataStream stream =
        streams.computeIfAbsent(scan, s -> stream(execution.logicalPlan(), s));
    if (stream == null) {
      return null;
    }
    Option<Offset> end = execution.getLatestExecutionContext().endOffsets().get(stream);
    return end.isEmpty() ? null : end.get().json();
  }

  /** Returns the source below the node that observes a scan. */
  private static SparkDataStream stream(LogicalPlan plan, SplitWatermarks scan) {
    if (expressions(plan).stream().anyMatch(e -> SplitTracker.observed(e).contains(scan))) {
      for (LogicalPlan leaf : CollectionConverters.asJava(plan.collectLeaves())) {
        if (leaf instanceof StreamingDataSourceV2ScanRelation source) {
          return source.stream();
        }
      }
    }
    for (LogicalPlan child : CollectionConverters.asJava(plan.children())) {
      SparkDataStream found = stream(child, scan);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  private static List<SplitWatermarks> scans(LogicalPlan plan) {
    List<SplitWatermarks> found = new ArrayList<>();
    expressions(plan).forEach(expression -> found.addAll(observed(expression)));
    CollectionConverters.asJava(plan.children()).forEach(child -> found.addAll(scans(child)));
    return found.stream().distinct().toList();
  }

  private static List<SplitWatermarks> observed(Expression expression) {
    if (expression instanceof Literal literal && literal.value() instanceof SplitWatermarks scan) {
      return List.of(scan);
    }
    return CollectionConverters.asJava(expression.children()).stream()
        .flatMap(child -> observed(child).stream())
        .toList();
  }

  private static List<Expression> expressions(LogicalPlan plan) {
    return CollectionConverters.asJava(plan.expressions());
  }
}
