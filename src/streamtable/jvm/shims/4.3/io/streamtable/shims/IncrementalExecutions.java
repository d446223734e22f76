package io.streamtable.shims;

import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkPropagator$;

/** The plan of one batch, for Spark 4.3. */
public final class IncrementalExecutions {
  private IncrementalExecutions() {}

  /** Returns an unplanned copy that shares no state with the batch. */
  public static IncrementalExecution copyOf(IncrementalExecution batch) {
    return new IncrementalExecution(
        batch.sparkSession(),
        batch.logical(),
        batch.outputMode(),
        batch.checkpointLocation(),
        batch.queryId(),
        batch.runId(),
        batch.currentBatchId(),
        batch.prevOffsetSeqMetadata(),
        batch.offsetSeqMetadata(),
        // The query's own propagator has state.
        WatermarkPropagator$.MODULE$.apply(batch.sparkSession().sessionState().conf()),
        false, // only the first batch writes the state schema
        batch.currentStateStoreCkptId().clone(),
        batch.stateSchemaMetadatas().clone(),
        batch.mode(),
        batch.isTerminatingTrigger(),
        batch.isRealTimeMode());
  }
}
