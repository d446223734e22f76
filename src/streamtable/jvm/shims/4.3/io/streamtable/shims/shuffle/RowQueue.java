package io.streamtable.shims.shuffle;

import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** The rows that wait for one reader of a shuffle. Writers wait while it is full. */
final class RowQueue {
  /** How often a thread that waits looks whether its task was killed. */
  private static final long LOOK_MS = 100;
  /** About what the objects of a row need besides its bytes. */
  private static final int OBJECTS = 64;

  private final long limit;
  private int writers;
  private Queue<UnsafeRow> rows = new ArrayDeque<>();
  /** Bytes of the rows that have arrived, and of those that the reader took last. */
  private long bytes;
  private long takenBytes;
  private boolean isReaderWaiting;
  private boolean isClosed;

  RowQueue(int writers, long limit) {
    this.writers = writers;
    this.limit = limit;
  }

  /** Adds a row, which nobody changes any more. Waits while the queue is full. */
  synchronized void put(UnsafeRow row, TaskContext context) {
    while (bytes >= limit && !isClosed) {
      pause(context);
    }
    if (!isClosed) {
      rows.add(row);
      bytes += row.getSizeInBytes() + OBJECTS;
      wakeReader();
    }
  }

  /** Tells the reader that one of the writers has written all its rows. */
  synchronized void endWriter() {
    writers--;
    wakeReader();
  }

  private void wakeReader() {
    if (isReaderWaiting) {
      isReaderWaiting = false;
      notifyAll();
    }
  }

  /** Returns whether rows have arrived. */
  synchronized boolean isReady() {
    return !rows.isEmpty();
  }

  /**
   * Returns all rows that have arrived. Waits for at least one. Returns null after the last row of
   * all writers.
   *
   * @param empty an empty queue for the next rows; it belongs to this object from now on
   */
  synchronized Queue<UnsafeRow> take(Queue<UnsafeRow> empty, TaskContext context) {
    if (bytes >= limit) {
      notifyAll();
    }
    bytes -= takenBytes;
    while (rows.isEmpty() && writers > 0) {
      isReaderWaiting = true;
      pause(context);
      if (isClosed) {
        throw new IllegalStateException("the task of this reader has ended");
      }
    }
    takenBytes = bytes;
    if (rows.isEmpty()) {
      return null;
    }
    Queue<UnsafeRow> arrived = rows;
    rows = empty;
    return arrived;
  }

  private void pause(TaskContext context) {
    try {
      wait(LOOK_MS);
    } catch (InterruptedException e) {
      context.killTaskIfInterrupted();
      throw new IllegalStateException("interrupted", e);
    }
    context.killTaskIfInterrupted();
  }

  /** Drops all rows, also later ones: their reader has ended. */
  synchronized void close() {
    isClosed = true;
    rows = new ArrayDeque<>();
    notifyAll();
  }
}
