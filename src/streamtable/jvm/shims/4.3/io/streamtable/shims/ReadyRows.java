package io.streamtable.shims;

import java.lang.reflect.Field;
import java.util.Queue;
import org.apache.spark.Dependency;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.streaming.DataMessage;
import org.apache.spark.network.shuffle.streaming.StreamingShuffleMessage;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.streaming.StreamingShuffleReader;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import scala.Product2;
import scala.collection.Iterator;

/**
 * The rows that a task of real-time mode reads from a shuffle, and whether there are any without
 * waiting, for Spark 4.3.
 *
 * <p>A message of the shuffle has one or more rows. Spark's iterator takes messages from a queue,
 * and keeps the rows that are left of the last message in a private field. A release of Spark whose
 * iterator has no such field still runs: no row is then known to have arrived.
 */
public final class ReadyRows {
  private static final String LEFT = "rowIterator";

  private final Iterator<Product2<Integer, InternalRow>> rows;
  private final Queue<StreamingShuffleMessage> messages;
  /** The field; null if there is none. */
  private final Field left;

  private ReadyRows(StreamingShuffleReader<Integer, InternalRow> reader) {
    this.rows = reader.read();
    this.messages = reader.messageQueue();
    this.left = left(rows);
  }

  private static Field left(Iterator<?> rows) {
    try {
      Field field = rows.getClass().getDeclaredField(LEFT);
      field.setAccessible(true);
      return field;
    } catch (NoSuchFieldException otherRelease) {
      return null;
    }
  }

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
    return new ReadyRows((StreamingShuffleReader<Integer, InternalRow>) reader);
  }

  /** Whether there is another row; waits for it. */
  public boolean hasNext() {
    return rows.hasNext();
  }

  /** Returns the next row, in memory that the one after it uses again. */
  public UnsafeRow next() {
    return (UnsafeRow) rows.next()._2();
  }

  /** Whether another row has arrived. */
  public boolean isReady() {
    if (left == null) {
      return false;
    }
    try {
      return ((Iterator<?>) left.get(rows)).hasNext() || messages.peek() instanceof DataMessage;
    } catch (IllegalAccessException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
