package io.streamtable.datagen;

import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;

/**
 * Produces the rows of one run of a query. Each batch takes the rows that are due when it is
 * planned.
 */
final class RowNumberStream implements MicroBatchStream, SupportsTriggerAvailableNow {
  private final long perSecond;
  private final long rows;
  private final int tasks;
  private long begun;
  private long begunAt = -1;

  RowNumberStream(long perSecond, long rows, int tasks) {
    this.perSecond = perSecond;
    this.rows = rows;
    this.tasks = tasks;
  }

  /**
   * Returns the end of a batch: after the rows that are due now. A restart continues at the rate
   * and does not make up for the downtime.
   *
   * <p>Waits until a row is due, because a batch without rows would end a bounded run.
   */
  @Override
  public Offset latestOffset(Offset begin, ReadLimit limit) {
    RowOffset start = (RowOffset) begin;
    if (begunAt < 0) {
      begunAt = System.nanoTime();
      begun = start.rows();
    }
    if (rows >= 0 && start.rows() >= rows) {
      return start;
    }
    while (true) {
      long elapsed = System.nanoTime() - begunAt;
      long due = begun + (long) (elapsed / 1e9 * perSecond);
      long end = rows < 0 ? due : Math.min(due, rows);
      if (end > start.rows()) {
        long now = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
        return new RowOffset(end, start.seed(), now);
      }
      pause();
    }
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(5);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      // Spark treats this exception as the end of a query that is stopped.
      throw new UncheckedIOException(new InterruptedIOException("stopped while no row is due"));
    }
  }

  @Override
  public Offset latestOffset() {
    throw new UnsupportedOperationException("Spark asks for the rows behind an offset");
  }

  @Override
  public ReadLimit getDefaultReadLimit() {
    return ReadLimit.allAvailable();
  }

  @Override
  public void prepareForTriggerAvailableNow() {
    // The end is the number of rows in the options.
  }

  @Override
  public Offset initialOffset() {
    return new RowOffset(0, ThreadLocalRandom.current().nextLong(), 0);
  }

  @Override
  public Offset deserializeOffset(String json) {
    return RowOffset.of(json);
  }

  @Override
  public InputPartition[] planInputPartitions(Offset begin, Offset end) {
    RowOffset from = (RowOffset) begin;
    RowOffset to = (RowOffset) end;
    InputPartition[] found = new InputPartition[tasks];
    long count = to.rows() - from.rows();
    for (int task = 0; task < tasks; task++) {
      long first = from.rows() + count * task / tasks;
      long last = from.rows() + count * (task + 1) / tasks;
      found[task] = new Range(first, last, to.seed(), to.micros());
    }
    return found;
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return partition -> new RangeReader((Range) partition);
  }

  @Override
  public void commit(Offset end) {
    // The source stores no rows, so there is nothing to release.
  }

  @Override
  public void stop() {
    // Nothing is open.
  }

  /** Rows of one task: from the first number (inclusive) to the last (exclusive). */
  private record Range(long first, long last, long seed, long micros) implements InputPartition {}

  private static final class RangeReader implements PartitionReader<InternalRow> {
    private final Range range;
    private long next;

    RangeReader(Range range) {
      this.range = range;
      this.next = range.first() - 1;
    }

    @Override
    public boolean next() {
      return ++next < range.last();
    }

    @Override
    public InternalRow get() {
      return new GenericInternalRow(new Object[] {next, range.seed(), range.micros()});
    }

    @Override
    public void close() {
      // Nothing is open.
    }
  }
}
