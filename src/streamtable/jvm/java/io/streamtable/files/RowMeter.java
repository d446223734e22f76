package io.streamtable.files;

import io.streamtable.expressions.MethodCall;
import io.streamtable.metrics.Counters;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.LongAccumulator;

/** Counts the rows that a table writes. */
public final class RowMeter implements Serializable {
  private final Counters counters;
  private transient LongAccumulator records;
  private transient LongAccumulator bytes;

  private RowMeter(Counters counters) {
    this.counters = counters;
  }

  /**
   * Returns a condition that is always true and counts each row when it is evaluated.
   *
   * @param content one column with the bytes of the row; null if they are not known
   */
  public static Column counted(Counters counters, List<Column> content) {
    RowMeter meter = new RowMeter(counters);
    return MethodCall.column(meter, RowMeter.class, "count", DataTypes.BooleanType, content);
  }

  /** Called by generated code. */
  public boolean count(byte[] content) {
    if (records == null) {
      records = counters.of("recordsOut");
      bytes = counters.of("bytesOut");
    }
    records.add(1L);
    bytes.add(content == null ? 0L : content.length);
    return true;
  }
}
