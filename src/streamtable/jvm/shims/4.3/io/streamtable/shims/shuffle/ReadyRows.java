package io.streamtable.shims.shuffle;

import org.apache.spark.Dependency;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.streaming.StreamingShuffleReader;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;

/**
 * The rows that a task of real-time mode reads from a shuffle, and whether there are any without
 * waiting, for Spark 4.3.
 */
public abstract class ReadyRows {
  /** Whether a processor runs in real-time mode and gets all its rows from its input. */
  public static boolean areRead(TransformWithStateExec processor) {
    return processor.isRealTimeMode() && !processor.hasInitialState();
  }

  /**
   * Returns the rows of a range of partitions of a shuffle.
   *
   * @param shuffle a ShuffleDependency
   */
  @SuppressWarnings("unchecked")
  public static ReadyRows of(Dependency<?> shuffle, int start, int end, TaskContext context) {
    var dependency = (ShuffleDependency<Integer, InternalRow, InternalRow>) shuffle;
    ShuffleReader<Integer, InternalRow> reader =
        SparkEnv.get()
            .shuffleManagerFor(dependency)
            .getReader(
                dependency.shuffleHandle(),
                start,
                end,
                context,
                context.taskMetrics().createTempShuffleReadMetrics());
    return reader instanceof LocalShuffleReader<Integer, InternalRow> local
        ? local.rows()
        : new StreamedRows((StreamingShuffleReader<Integer, InternalRow>) reader);
  }

  /** Whether there is another row; waits for it. */
  public abstract boolean hasNext();

  /** Returns the next row, which nobody changes. */
  public abstract UnsafeRow next();

  /** Whether another row has arrived. */
  public abstract boolean isReady();
}
