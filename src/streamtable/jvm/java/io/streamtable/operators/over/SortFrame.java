package io.streamtable.operators.over;

import io.streamtable.operators.row.RowOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import org.apache.spark.sql.Row;

/** A frame without aggregates: returns the rows, and sorts rows with the same event time. */
final class SortFrame implements OverFrame {
  private final RowOrder order;

  /** @param order order of rows with the same event time; equal rows stay in arrival order */
  SortFrame(RowOrder order) {
    this.order = order;
  }

  @Override
  public List<Row> results(SortedMap<Long, List<Row>> rows, long passed) {
    List<Row> output = new ArrayList<>();
    for (List<Row> moment : rows.values()) {
      List<Row> sorted = new ArrayList<>(moment);
      sorted.sort(order::byColumns);
      output.addAll(sorted);
    }
    return output;
  }

  @Override
  public void forget(SortedMap<Long, List<Row>> rows, long passed) {
    rows.headMap(passed + 1).clear();
  }
}
