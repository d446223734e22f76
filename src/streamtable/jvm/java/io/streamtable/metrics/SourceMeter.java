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

  private final Counters counters;
  private final LatestPair newest;
  private transient LongAccumulator records;
  private transient LongAccumulator bytes;

  private SourceMeter(Counters counters, LatestPair newest) {
    this.counters = counters;
    this.newest = newest;
  }

  /**
   * Returns a condition that is always true and counts each record when it is evaluated.
   *
   * @param newest receives the greatest timestamp of a record and the time when it was read, in
   *     epoch ms
   * @param record key, value and timestamp in epoch ms
   */
  public static Column counted(Counters counters, LatestPair newest, List<Column> record) {
    SourceMeter target = new SourceMeter(counters, newest);
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
    if (newest.isBefore(timeMs)) { // checked first, so that not every record reads the clock
      newest.add(timeMs, System.currentTimeMillis());
    }
    return true;
  }
}
