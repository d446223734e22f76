package io.streamtable.jdbc;

import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;

/** The batches of a {@link ScanSource}: the first one reads the table, the others read nothing. */
final class ScanStream implements MicroBatchStream, SupportsTriggerAvailableNow {
  private static final Offset BEGIN = new ScanOffset("0");
  private static final Offset END = new ScanOffset("1");

  private final ScanSpec scan;

  ScanStream(ScanSpec scan) {
    this.scan = scan;
  }

  @Override
  public Offset latestOffset(Offset start, ReadLimit limit) {
    return END;
  }

  @Override
  public Offset latestOffset() {
    return END;
  }

  @Override
  public ReadLimit getDefaultReadLimit() {
    return ReadLimit.allAvailable();
  }

  @Override
  public void prepareForTriggerAvailableNow() {
    // The scan ends after its first batch in any case.
  }

  @Override
  public Offset initialOffset() {
    return BEGIN;
  }

  @Override
  public Offset deserializeOffset(String json) {
    return new ScanOffset(json);
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start, Offset end) {
    if (start.equals(end)) {
      return new InputPartition[0];
    }
    if (scan.partitionColumn() == null) {
      return new InputPartition[] {new Part(0, null)};
    }
    long[][] ranges = scan.ranges().toArray(long[][]::new);
    InputPartition[] parts = new InputPartition[ranges.length];
    for (int i = 0; i < ranges.length; i++) {
      parts[i] = new Part(i, ranges[i]);
    }
    return parts;
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    ScanSpec read = scan;
    return part -> new ScanReader(read, (Part) part);
  }

  @Override
  public void commit(Offset end) {
    // The source stores nothing.
  }

  @Override
  public void stop() {
    // Nothing is open.
  }

  /**
   * The rows of one task.
   *
   * @param number counts the tasks from 0
   * @param range first and last value of the partition column; null for the whole table
   */
  record Part(int number, long[] range) implements InputPartition {}

  private static final class ScanOffset extends Offset {
    private final String json;

    ScanOffset(String json) {
      this.json = json;
    }

    @Override
    public String json() {
      return json;
    }
  }
}
