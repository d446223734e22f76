package io.streamtable.codec;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.LongAccumulator;

/** Counts the records that a table reads, whatever then becomes of them. */
public final class SourceMeter implements Serializable {
  /** Records that were read. */
  public static final String RECORDS_IN = "recordsIn";
  /** Bytes of their keys and values. */
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
   * A condition that every record fulfils, counted as it is asked.
   *
   * @param newest takes the greatest time of a record and the time when it was read, in epoch ms
   * @param record key, value and time in epoch ms
   */
  public static Column counted(Counters counters, LatestPair newest, List<Column> record) {
    SourceMeter target = new SourceMeter(counters, newest);
    return Columns.invoke(target, SourceMeter.class, "count", DataTypes.BooleanType, record);
  }

  /** Called by generated code. */
  public boolean count(byte[] key, byte[] value, long timeMs) {
    if (records == null) {
      records = counters.of(RECORDS_IN);
      bytes = counters.of(BYTES_IN);
    }
    records.add(1L);
    bytes.add((long) (key == null ? 0 : key.length) + (value == null ? 0 : value.length));
    if (newest.isBefore(timeMs)) { // asked first: the clock is not read for every record
      newest.add(timeMs, System.currentTimeMillis());
    }
    return true;
  }
}
