package io.streamtable.query.bundles;

import io.streamtable.operators.bundle.BundleProcessor;
import io.streamtable.operators.encoding.DecodedRow;
import io.streamtable.query.OwnNodes;
import io.streamtable.shims.ReadyRows;
import java.util.List;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;

/**
 * Lets the stateful processors of real-time mode take all rows of a group that have arrived at
 * once, as Flink does with mini-batches, but without waiting. So the work per row falls when rows
 * wait, for example after a checkpoint.
 */
public final class RowBundles extends Rule<SparkPlan> {
  /** The session's option, read when a batch is planned. */
  private static final String SIZE = "spark.streamtable.bundleSize";

  @Override
  public SparkPlan apply(SparkPlan plan) {
    int size = Integer.parseInt(conf().getConfString(SIZE, "1"));
    return size > 1 ? bundled(plan, size) : plan;
  }

  private static SparkPlan bundled(SparkPlan plan, int size) {
    SparkPlan below = plan.mapChildren(child -> bundled(child, size));
    return below instanceof TransformWithStateExec processor && takesBundles(processor)
        ? processor.withNewChildren(
            OwnNodes.seq(
                List.of(
                    new RowBundlesExec(processor.child(), processor.groupingAttributes(), size),
                    processor.initialState())))
        : below;
  }

  private static boolean takesBundles(TransformWithStateExec processor) {
    return ReadyRows.areRead(processor)
        && processor.child() instanceof ShuffleExchangeLike
        && (Object) processor.statefulProcessor() instanceof BundleProcessor
        && processor.valueDeserializer() instanceof DecodedRow
        // Spark looks for late rows itself, and would see the first one of a bundle only.
        && processor.watermarkPredicateForDataForLateEvents().isEmpty();
  }
}
