package io.streamtable.operators.over;

import io.streamtable.operators.aggregate.AggregateState;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A frame from the partition's first row on. The state has the aggregates, not the rows.
 *
 * <p>State: that of {@link AggregateState}.
 */
final class UnboundedFrame implements OverFrame {
  private final AggregateState aggregates;
  private final boolean peers;

  /**
   * @param peers whether rows with the same event time share a result (RANGE), or each row has its
   *     own (ROWS)
   */
  UnboundedFrame(AggregateState aggregates, boolean peers) {
    this.aggregates = aggregates;
    this.peers = peers;
  }

  @Override
  public void open(StatefulProcessorHandle handle) {
    aggregates.open(handle);
  }

  @Override
  public List<Row> results(SortedMap<Long, List<Row>> rows, long passed) {
    List<Row> output = new ArrayList<>();
    aggregates.load();
    for (List<Row> moment : rows.values()) {
      if (peers) {
        add(moment);
        Object[] results = aggregates.results();
        moment.forEach(row -> output.add(OverFrame.result(row, results)));
      } else {
        for (Row row : moment) {
          add(List.of(row));
          output.add(OverFrame.result(row, aggregates.results()));
        }
      }
    }
    aggregates.store();
    return output;
  }

  private void add(List<Row> rows) {
    aggregates.add(CollectionConverters.asScala(rows.iterator()));
  }

  @Override
  public void clear() {
    aggregates.load();
    aggregates.forget();
  }

  @Override
  public void forget(SortedMap<Long, List<Row>> rows, long passed) {
    rows.headMap(passed + 1).clear();
  }
}
