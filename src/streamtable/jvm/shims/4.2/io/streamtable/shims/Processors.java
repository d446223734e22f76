package io.streamtable.shims;

import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import scala.Option;

/** Stateful processors in plans of Spark 4.2. */
public final class Processors {
  private Processors() {}

  /**
   * Returns whether a processor runs at the same time as the stages before it. Real-time mode of
   * this Spark has no processors.
   */
  public static boolean isRealTime(TransformWithStateExec processor) {
    return false;
  }

  /** Returns a processor whose timers fire at a watermark, in milliseconds. */
  public static TransformWithStateExec firingAt(
      TransformWithStateExec processor, Option<Object> watermark) {
    return processor.copy(
        processor.keyDeserializer(),
        processor.valueDeserializer(),
        processor.groupingAttributes(),
        processor.dataAttributes(),
        processor.statefulProcessor(),
        processor.timeMode(),
        processor.outputMode(),
        processor.keyEncoder(),
        processor.outputObjAttr(),
        processor.stateInfo(),
        processor.batchTimestampMs(),
        processor.prevBatchTimestampMs(),
        processor.eventTimeWatermarkForLateEvents(),
        watermark,
        processor.child(),
        processor.isStreaming(),
        processor.hasInitialState(),
        processor.initialStateGroupingAttrs(),
        processor.initialStateDataAttrs(),
        processor.initialStateDeserializer(),
        processor.initialState());
  }
}
