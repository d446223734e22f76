package io.streamtable.watermarks;

import io.streamtable.query.Unchecked;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.QueryPlan;
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
  private ReachedFiles files;
  private long reachedBatch = -1;
  private long reached;

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
  public synchronized void updateWatermark(SparkPlan executed) {
    long batch = execution.getLatestExecutionContext().batchId();
    long least = settle(batch);
    long decided = batch == reachedBatch ? reached : ReachedWatermark.NONE;
    setWatermark(Math.max(currentWatermark(), Math.max(least, decided)));
  }

  /** Returns the watermark with which the running batch began, in milliseconds; 0 for none. */
  long began() {
    return execution.getLatestExecutionContext().offsetSeqMetadata().batchWatermarkMs();
  }

  /**
   * Returns the watermark that the running batch has reached, if it is above the one with which the
   * batch began; else {@link ReachedWatermark#NONE}.
   *
   * <p>The first operator whose stage is submitted decides for the whole batch, so all operators of
   * the batch get the same watermark. It is lower than it could be if other tasks still read. The
   * watermark of the next batch is not below it.
   */
  synchronized long reached() {
    if (Thread.currentThread() == execution.queryExecutionThread()) {
      return ReachedWatermark.NONE; // Spark tries out the serialization while it plans the batch.
    }
    long batch = execution.getLatestExecutionContext().batchId();
    if (batch != reachedBatch) {
      reached = Unchecked.call(() -> decided(batch));
      reachedBatch = batch;
    }
    return reached;
  }

  private long decided(long batch) throws IOException {
    List<String> ends = scans.stream().map(this::end).toList();
    if (files == null) {
      ReachedFiles opened = new ReachedFiles(execution.resolvedCheckpointRoot());
      OptionalLong known = opened.read(batch, ends);
      files = opened;
      if (known.isPresent()) {
        return known.getAsLong();
      }
    }
    long found = ReachedWatermark.NONE;
    if (scans.stream().anyMatch(SplitWatermarks::hasShown)) {
      long least = settle(batch);
      if (least > Math.max(began(), currentWatermark())) {
        found = least;
      }
    }
    files.write(batch, ends, found);
    return found;
  }

  /** Applies the watermarks of a batch; returns their minimum, or the least long without one. */
  private long settle(long batch) {
    scans.forEach(scan -> scan.settle(batch, end(scan)));
    List<OptionalLong> found = scans.stream().map(SplitWatermarks::least).toList();
    return found.stream().allMatch(OptionalLong::isPresent)
        ? found.stream().mapToLong(OptionalLong::getAsLong).min().getAsLong()
        : Long.MIN_VALUE;
  }

  /**
   * Returns the position of a scan's source at the end of the batch, as Spark writes it into the
   * checkpoint.
   */
  private String end(SplitWatermarks scan) {
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

  /** Returns the scans whose watermarks the nodes of a plan observe. */
  static List<SplitWatermarks> scans(QueryPlan<?> plan) {
    List<SplitWatermarks> found = new ArrayList<>();
    expressions(plan).forEach(expression -> found.addAll(observed(expression)));
    for (Object child : CollectionConverters.asJava(plan.children())) {
      found.addAll(scans((QueryPlan<?>) child));
    }
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

  private static List<Expression> expressions(QueryPlan<?> plan) {
    return CollectionConverters.asJava(plan.expressions());
  }
}
