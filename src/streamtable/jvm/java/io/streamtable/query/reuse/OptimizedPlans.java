package io.streamtable.query.reuse;

import io.streamtable.query.OwnNodes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ReturnAnswer;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.catalyst.trees.TreePattern$;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation;
import org.apache.spark.sql.execution.streaming.sources.ForeachWriterTable;
import org.apache.spark.sql.execution.streaming.sources.WriteToMicroBatchDataSource;
import scala.Enumeration;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Analyzes and optimizes the plan of a query once instead of once per batch. Rows wait for the next
 * batch meanwhile, and the plans of two batches differ only in the offsets of their scans.
 *
 * <p>The rule is the first one of the analyzer that an extension can add. If an earlier batch had
 * the same plan, the rule puts the optimized plan of that batch in its place ({@link
 * OptimizedQuery}). Otherwise Spark plans the batch as usual, and {@link Taken} keeps the optimized
 * plan.
 *
 * <p>A plan is not kept if the optimizer could decide differently in another batch: if it reads a
 * table or a cache besides its streams, has a subquery, a seed or the time of its batch, or if the
 * sink could add nodes to it.
 */
public final class OptimizedPlans extends Rule<LogicalPlan> {
  /** A source without new data is absent from a batch, so the plans of a query vary. */
  private static final int MAX_PLANS = 8;

  private static final Seq<Enumeration.Value> VARYING =
      OwnNodes.seq(
          List.of(
              TreePattern$.MODULE$.CURRENT_LIKE(),
              TreePattern$.MODULE$.EXPRESSION_WITH_RANDOM_SEED(),
              TreePattern$.MODULE$.PLAN_EXPRESSION()));

  /** Carries {@link Missing} through the optimizer. */
  private static final TreeNodeTag<Missing> MISSING = new TreeNodeTag<>("streamtable.missing");

  private final Deque<Kept> kept = new ArrayDeque<>();

  /**
   * @param plan the plan without offsets
   * @param optimized the optimized plan, with the offsets of an earlier batch
   */
  private record Kept(LogicalPlan plan, LogicalPlan optimized) {}

  /**
   * @param plan a plan without offsets that Spark optimizes now
   * @param plans takes the result
   */
  private record Missing(LogicalPlan plan, OptimizedPlans plans) {}

  /** Adds the rule and its strategies to sessions. A query has a session of its own. */
  public static void register(SparkSessionExtensions extensions) {
    extensions.injectHintResolutionRule(session -> new OptimizedPlans());
    extensions.injectPlannerStrategy(session -> new OptimizedQuery.Strategy());
    extensions.injectPlannerStrategy(session -> new Taken());
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (!(plan instanceof WriteToMicroBatchDataSource write)
        || write.query() instanceof OptimizedQuery
        || !isStable(write)) {
      return plan;
    }
    LogicalPlan query = ScanOffsets.removed(write.query());
    LogicalPlan optimized = find(query);
    if (optimized == null) {
      write.setTagValue(MISSING, new Missing(query, this));
      return plan;
    }
    OptimizedQuery reused =
        new OptimizedQuery(ScanOffsets.of(write.query()).in(optimized), write.query().output());
    return write.withNewChildren(OwnNodes.seq(List.of(reused)));
  }

  private static boolean isStable(WriteToMicroBatchDataSource write) {
    return write.relation() instanceof DataSourceV2Relation sink
        && sink.table() instanceof ForeachWriterTable
        && !write.containsAnyPattern(VARYING)
        && CollectionConverters.asJava(write.collectLeaves()).stream()
            .allMatch(
                leaf ->
                    leaf instanceof StreamingDataSourceV2ScanRelation
                        || leaf instanceof LocalRelation);
  }

  private synchronized LogicalPlan find(LogicalPlan query) {
    return kept.stream()
        .filter(known -> known.plan().equals(query))
        .findFirst()
        .map(Kept::optimized)
        .orElse(null);
  }

  private synchronized void keep(LogicalPlan query, LogicalPlan optimized) {
    if (find(query) == null) {
      kept.addFirst(new Kept(query, optimized));
      if (kept.size() > MAX_PLANS) {
        kept.removeLast();
      }
    }
  }

  /** Takes the optimized plan of a batch, and plans nothing. */
  private static final class Taken extends SparkStrategy {
    @Override
    public Seq<SparkPlan> apply(LogicalPlan plan) {
      if (plan instanceof ReturnAnswer answer) {
        LogicalPlan write = answer.child();
        Option<Missing> missing = write.getTagValue(MISSING);
        if (missing.isDefined() && !(write.children().head() instanceof OptimizedQuery)) {
          missing.get().plans().keep(missing.get().plan(), write.children().head());
        }
      }
      return OwnNodes.seq(List.of());
    }
  }
}
