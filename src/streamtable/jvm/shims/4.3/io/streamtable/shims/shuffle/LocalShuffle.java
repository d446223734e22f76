package io.streamtable.shims.shuffle;

import java.util.BitSet;

/**
 * One shuffle in memory: a queue for each reader, which all writers fill.
 *
 * <p>A task that fails cannot run again, because its rows were read, or it has read rows. So the
 * second attempt of a task fails, and with it the batch, which then runs again as a whole.
 */
final class LocalShuffle {
  private final RowQueue[] queues;
  private final BitSet begunWriters = new BitSet();
  private final BitSet begunReaders = new BitSet();

  /**
   * @param writers number of tasks that write
   * @param readers number of tasks that read
   * @param limit the size of each queue in bytes, from which writers wait
   */
  LocalShuffle(int writers, int readers, long limit) {
    queues = new RowQueue[readers];
    for (int reader = 0; reader < readers; reader++) {
      queues[reader] = new RowQueue(writers, limit);
    }
  }

  /** Begins a writer, and returns the queues of the readers. */
  synchronized RowQueue[] beginWriter(int writer) {
    begin(begunWriters, writer);
    return queues;
  }

  /** Begins a reader, and returns its queue. */
  synchronized RowQueue beginReader(int reader) {
    begin(begunReaders, reader);
    return queues[reader];
  }

  private static void begin(BitSet begun, int task) {
    if (begun.get(task)) {
      throw new IllegalStateException("a task of real-time mode cannot run again");
    }
    begun.set(task);
  }

  int readers() {
    return queues.length;
  }
}
