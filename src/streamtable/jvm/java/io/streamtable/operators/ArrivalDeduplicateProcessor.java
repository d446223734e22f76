package io.streamtable.operators;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Added rows of one partition in; the first one to come out, once, or the last one, at most one
 * change per batch.
 *
 * <p>Input rows are (row kind, columns..., position...). State (layout v1): "kept", a mark that there
 * was a row; in it the last one where an update comes with the row it replaces, else null.
 */
public final class ArrivalDeduplicateProcessor extends StatefulProcessor<Row, Row, Row> {
  private final StructType row;
  private final Comparator<Row> order;
  private final boolean last;
  private final boolean before;
  private final long ttl;
  private transient ValueState<Row> kept;

  /**
   * @param row the row kind and the columns
   * @param order of the rows of a batch
   * @param last whether the last row counts rather than the first one
   * @param before whether an update comes with the row it replaces
   * @param ttl see {@link ExpiringState#of}
   */
  ArrivalDeduplicateProcessor(
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
        ExpiringState.of(getHandle(), ttl)
            .getValueState("kept", Plain.row(schema), TTLConfig.NONE());
  }

  @Override
  public scala.collection.Iterator<Row> handleInputRows(
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
