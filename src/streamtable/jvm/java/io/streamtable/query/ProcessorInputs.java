package io.streamtable.query;

import java.util.List;
import java.util.function.Function;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;

/** Replaces the inputs of the stateful processors in a plan. */
public final class ProcessorInputs {
  private ProcessorInputs() {}

  /**
   * Returns a plan with other inputs.
   *
   * @param input returns the new input of a processor, which may be its present one
   */
  public static SparkPlan replaced(
      SparkPlan plan, Function<TransformWithStateExec, SparkPlan> input) {
    SparkPlan below = plan.mapChildren(child -> replaced(child, input));
    return below instanceof TransformWithStateExec processor
        ? processor.withNewChildren(
            OwnNodes.seq(List.of(input.apply(processor), processor.initialState())))
        : below;
  }
}
