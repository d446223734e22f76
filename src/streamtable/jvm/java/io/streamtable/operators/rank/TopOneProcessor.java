package io.streamtable.operators.rank;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.row.NetRows;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.row.RowValue;
import io.streamtable.operators.state.ExpiringState;
import io.streamtable.operators.state.OrderedValue;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads append-only rows of one partition, and emits changes of its first row. It is a
 * {@link TopNProcessor} whose state is a plain row, which costs half as much as a list of one row.
 *
 * <p>State (layout v2): "first", the first row.
 */
public final class TopOneProcessor extends RowProcessor {
  private final TopNSpec spec;
  private final RowOrder inputOrder;
  private transient ValueState<Row> first;

  /** @param spec must satisfy {@link TopNSpec#isOneAdded} */
  TopOneProcessor(TopNSpec spec) {
    this.spec = spec;
    this.inputOrder = spec.order().shifted(RowKind.POSITION + 1);
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    first =
        OrderedValue.of(
            ExpiringState.of(getHandle(), spec.ttl())
                .getValueState("first", Plain.row(spec.row()), TTLConfig.NONE()));
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    Row best = input.next();
    while (input.hasNext()) {
      Row next = input.next();
      if (inputOrder.compare(next, best) < 0) {
        best = next;
      }
    }
    return CollectionConverters.asScala(offer(first.get(), best).iterator());
  }

  private List<Row> offer(Row stored, Row best) {
    Row now = RowValue.slice(best, RowKind.POSITION + 1, best.length());
    if (stored == null) {
      first.update(now);
      return List.of(best);
    }
    if (spec.order().compare(now, stored) >= 0) {
      if (spec.ttl() > 0) {
        first.update(stored);
      }
      return List.of();
    }
    first.update(now);
    NetRows output = new NetRows();
    output.add(stored, -1);
    output.add(now, 1);
    return output.changes(spec.outputKey(), spec.before());
  }
}
