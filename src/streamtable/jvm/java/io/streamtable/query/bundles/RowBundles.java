package io.streamtable.query.bundles;

import io.streamtable.operators.bundle.BundleProcessor;
import io.streamtable.operators.encoding.DecodedRow;
import io.streamtable.query.ProcessorInputs;
import io.streamtable.shims.shuffle.ReadyRows;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import org.apache.spark.sql.streaming.TimeMode;

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
    return size > 1
        ? ProcessorInputs.replaced(plan, processor -> bundled(processor, size))
        : plan;
  }

  private static SparkPlan bundled(TransformWithStateExec processor, int size) {
    return takesBundles(processor)
        ? new RowBundlesExec(processor.child(), processor.groupingAttributes(), size)
        : processor.child();
  }

  private static boolean takesBundles(TransformWithStateExec processor) {
    return ReadyRows.areRead(processor)
        && processor.child() instanceof ShuffleExchangeLike
        && (Object) processor.statefulProcessor() instanceof BundleProcessor bundled
        && bundled.takesBundles()
        // An update that changes nothing renews the state above, and would cancel out in a call.
        && !processor.timeMode().equals(TimeMode.ProcessingTime())
        && processor.valueDeserializer() instanceof DecodedRow
        // Spark looks for late rows itself, and would see the first one of a bundle only.
        && processor.watermarkPredicateForDataForLateEvents().isEmpty();
  }
}
