package io.streamtable.shims.shuffle;

import java.util.ArrayDeque;
import java.util.NoSuchElementException;
import java.util.Queue;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.util.TaskCompletionListener;

/** The rows of a shuffle in memory. */
final class LocalRows extends ReadyRows {
  private final RowQueue queue;
  private final TaskContext context;
  /** Rows that were taken from the queue; null after the last one. */
  private Queue<UnsafeRow> taken = new ArrayDeque<>();

  LocalRows(RowQueue queue, TaskContext context) {
    this.queue = queue;
    this.context = context;
    context.addTaskCompletionListener((TaskCompletionListener) ended -> queue.close());
  }

  /** Fails if the task was killed: its rows must not reach the sink after the query has stopped. */
  @Override
  public boolean hasNext() {
    context.killTaskIfInterrupted();
    if (taken != null && taken.isEmpty()) {
      taken = queue.take(taken, context);
    }
    return taken != null;
  }

  @Override
  public UnsafeRow next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return taken.remove();
  }

  @Override
  public boolean isReady() {
    return taken != null && (!taken.isEmpty() || queue.isReady());
  }
}
