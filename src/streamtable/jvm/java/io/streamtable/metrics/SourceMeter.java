package io.streamtable.metrics;

import io.streamtable.expressions.MethodCall;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.LongAccumulator;

/** Counts the records that a table reads, including records that are skipped later. */
public final class SourceMeter implements Serializable {
  /** Counter of records read. */
  public static final String RECORDS_IN = "recordsIn";
  /** Counter of bytes of the records' keys and values. */
  public static final String BYTES_IN = "bytesIn";

  /**
   * Records after which the clock is read again if it has not advanced. Reading it for each record
   * would be expensive.
   */
  private static final int SAME_MS = 64;

  private final Counters counters;
  private final LatestPair lastRead;
  private transient LongAccumulator records;
  private transient LongAccumulator bytes;
  private transient long nowMs;
  private transient int untilClock;

  private SourceMeter(Counters counters, LatestPair lastRead) {
    this.counters = counters;
    this.lastRead = lastRead;
  }

  /**
   * Returns a condition that is always true and counts each record when it is evaluated.
   *
   * @param lastRead receives the time when the last record was read, and its timestamp, in epoch ms
   * @param record key, value and timestamp in epoch ms
   */
  public static Column counted(Counters counters, LatestPair lastRead, List<Column> record) {
    SourceMeter target = new SourceMeter(counters, lastRead);
    return MethodCall.column(target, SourceMeter.class, "count", DataTypes.BooleanType, record);
  }

  /** Called by generated code. */
  public boolean count(byte[] key, byte[] value, long timeMs) {
    if (records == null) {
      records = counters.of(RECORDS_IN);
      bytes = counters.of(BYTES_IN);
    }
    records.add(1L);
    bytes.add((long) (key == null ? 0 : key.length) + (value == null ? 0 : value.length));
    lastRead.add(now(timeMs), timeMs);
    return true;
  }

  /**
   * Returns the time of the read; it may be older by the time of {@link #SAME_MS} records, but not
   * older than the record itself, unless that is of the future.
   */
  private long now(long timeMs) {
    if (--untilClock <= 0 || timeMs > nowMs) {
      long read = System.currentTimeMillis();
      untilClock = read == nowMs ? SAME_MS : 1;
      nowMs = read;
    }
    return nowMs;
  }
}
