package io.streamtable.query;

import io.streamtable.operators.bundle.BundleProcessor;
import io.streamtable.shims.Processors;
import io.streamtable.watermarks.ReachedWatermark;
import io.streamtable.watermarks.TimerWatermark;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import org.apache.spark.sql.streaming.TimeMode;

/**
 * Lets the timers of micro-batches fire at the watermark that the rows of their own batch have
 * reached. Spark's timers fire in the next batch, so all rows of a window would go through state.
 *
 * <p>All operators of a batch use the same watermark, so operators behind others that wait for it
 * get the rows that they expect. Which rows are late depends on the watermark with which the batch
 * began.
 */
final class ReachedTimers extends Rule<SparkPlan> {
  @Override
  public SparkPlan apply(SparkPlan plan) {
    ReachedWatermark reached = ReachedWatermark.of(plan);
    return reached == null ? plan : replaced(plan, reached);
  }

  private static SparkPlan replaced(SparkPlan plan, ReachedWatermark reached) {
    SparkPlan below = plan.mapChildren(child -> replaced(child, reached));
    if (below instanceof TransformWithStateExec processor
        && processor.timeMode().equals(TimeMode.EventTime())
        && processor.eventTimeWatermarkForEviction().isDefined()
        && !Processors.isRealTime(processor)
        && (Object) processor.statefulProcessor() instanceof BundleProcessor ours) {
      ours.firesAt(reached);
      long began = (Long) processor.eventTimeWatermarkForEviction().get();
      return Processors.firingAt(processor, new TimerWatermark(began, reached));
    }
    return below;
  }
}
