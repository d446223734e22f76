package io.streamtable.operators.rank;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.row.RowValue;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads append-only rows and emits the first ones to arrive, in the order of their positions within
 * a call.
 *
 * <p>Input rows are (row kind, columns..., position...). State (layout v1): "seen", the number of
 * rows so far, up to the last one that is emitted.
 */
public final class LimitProcessor extends RowProcessor {
  private final RowOrder order;
  private final long skip;
  private final long end;
  private final int columns;
  private transient ValueState<Long> seen;

  /** @param columns number of columns of the output, including the row kind */
  LimitProcessor(RowOrder order, int skip, int limit, int columns) {
    this.order = order;
    this.skip = skip;
    this.end = (long) skip + limit;
    this.columns = columns;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    seen = getHandle().getValueState("seen", DirectEncoder.longs(), TTLConfig.NONE());
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    long before = seen.exists() ? seen.get() : 0;
    long number = before;
    List<Row> output = new ArrayList<>();
    if (before < end) {
      Iterator<Row> rows = order.sorted(CollectionConverters.asJava(input));
      for (; number < end && rows.hasNext(); number++) {
        Row row = rows.next();
        if (number >= skip) {
          output.add(RowValue.slice(row, 0, columns));
        }
      }
      seen.update(number);
    }
    return CollectionConverters.asScala(output.iterator());
  }
}
