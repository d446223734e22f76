package io.streamtable.operators.rank;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowValue;
import io.streamtable.operators.state.ExpiringState;
import io.streamtable.operators.state.OrderedValue;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads append-only rows of one partition, and emits the first row to arrive once, or the last row
 * with at most one change per batch.
 *
 * <p>Input rows are (row kind, columns..., position...). State (layout v1): "kept", a mark that
 * there was a row; it contains the last row if update-before rows are emitted, else null.
 */
public final class ProcessingTimeDeduplicateProcessor extends RowProcessor {
  private final StructType row;
  private final Comparator<Row> order;
  private final boolean last;
  private final boolean before;
  private final long ttl;
  private transient ValueState<Row> kept;

  /**
   * @param row the row kind and the columns
   * @param order order of the rows of a batch
   * @param last whether to keep the last row instead of the first
   * @param before whether to emit update-before rows
   * @param ttl see {@link ExpiringState#of}
   */
  ProcessingTimeDeduplicateProcessor(
      StructType row, Comparator<Row> order, boolean last, boolean before, long ttl) {
    this.row = row;
    this.order = last ? order.reversed() : order;
    this.last = last;
    this.before = before;
    this.ttl = ttl;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    StructType schema = new StructType().add("row", row, true);
    kept =
        OrderedValue.of(
            ExpiringState.of(getHandle(), ttl)
                .getValueState("kept", Plain.row(schema), TTLConfig.NONE()));
  }

  @Override
  public boolean takesBundles() {
    return false; // the rows of a call are sorted by position, which differs from their times
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    Row known = kept.get();
    List<Row> output = new ArrayList<>(2);
    if (known == null || last) {
      Row now = RowValue.slice(first(input), 0, row.length());
      if (known != null && before) {
        output.add(RowKind.as(RowKind.UPDATE_BEFORE, known.getStruct(0)));
      }
      output.add(RowKind.as(known == null ? RowKind.INSERT : RowKind.UPDATE_AFTER, now));
      kept.update(RowFactory.create(last && before ? now : null));
    }
    return CollectionConverters.asScala(output.iterator());
  }

  private Row first(scala.collection.Iterator<Row> input) {
    Row best = input.next();
    while (input.hasNext()) {
      Row next = input.next();
      if (order.compare(next, best) < 0) {
        best = next;
      }
    }
    return best;
  }
}
