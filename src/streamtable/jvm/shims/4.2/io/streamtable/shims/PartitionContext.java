package io.streamtable.shims;

import org.apache.spark.TaskContext;

/** The context of a task with another number. Spark 4.2 does not need it. */
public final class PartitionContext {
  private PartitionContext() {}

  /** Fails, because real-time mode of Spark 4.2 runs only queries without state. */
  public static TaskContext of(TaskContext task, int partition) {
    throw new UnsupportedOperationException("real-time mode of Spark 4.2 has no operators with state");
  }
}
