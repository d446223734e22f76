package io.streamtable.shims.shuffle;

import org.apache.spark.Dependency;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;

/** The rows that a task of real-time mode reads from a shuffle. Spark 4.2 has no such shuffles. */
public final class ReadyRows {
  private ReadyRows() {}

  /** Whether a processor runs in real-time mode and gets all its rows from its input: never. */
  public static boolean areRead(TransformWithStateExec processor) {
    return false;
  }

  /** Fails, because real-time mode of Spark 4.2 runs only queries without state. */
  public static ReadyRows of(Dependency<?> shuffle, int start, int end, TaskContext context) {
    throw new UnsupportedOperationException("real-time mode of Spark 4.2 has no shuffles");
  }

  public boolean hasNext() {
    throw new UnsupportedOperationException();
  }

  public UnsafeRow next() {
    throw new UnsupportedOperationException();
  }

  public boolean isReady() {
    throw new UnsupportedOperationException();
  }
}
