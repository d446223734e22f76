package io.streamtable.operators.over;

import io.streamtable.operators.aggregate.Aggregation;
import io.streamtable.operators.aggregate.HeapAggregates;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.apache.spark.sql.Row;

/**
 * A frame with a number of preceding rows or a length of time. The state has the rows, not the
 * aggregates.
 *
 * <p>In each batch the stored rows are aggregated again; then rows are added and removed one by
 * one.
 */
final class SlidingFrame implements OverFrame {
  private final List<Aggregation> calls;
  private final boolean peers;
  private final long preceding;

  /**
   * @param peers whether the frame is a time frame (RANGE) or a row frame (ROWS)
   * @param preceding number of milliseconds, or rows, in addition to the current time, or row
   */
  SlidingFrame(List<Aggregation> calls, boolean peers, long preceding) {
    this.calls = calls;
    this.peers = peers;
    this.preceding = preceding;
  }

  @Override
  public List<Row> results(SortedMap<Long, List<Row>> rows, long passed) {
    HeapAggregates aggregates = new HeapAggregates(calls, true);
    Deque<Row> inside = new ArrayDeque<>();
    Deque<Long> moments = new ArrayDeque<>();
    List<Row> output = new ArrayList<>();
    for (Map.Entry<Long, List<Row>> entry : rows.entrySet()) {
      boolean isNew = entry.getKey() > passed;
      for (Row row : entry.getValue()) {
        aggregates.add(row, 1);
        inside.add(row);
        moments.add(entry.getKey());
        if (isNew && !peers) {
          shrink(aggregates, inside, moments, entry.getKey());
          output.add(OverFrame.result(row, aggregates.results()));
        }
      }
      if (isNew && peers) {
        shrink(aggregates, inside, moments, entry.getKey());
        Object[] results = aggregates.results();
        entry.getValue().forEach(row -> output.add(OverFrame.result(row, results)));
      }
    }
    return output;
  }

  /** Retracts the rows that have left the frame. */
  private void shrink(
      HeapAggregates aggregates, Deque<Row> inside, Deque<Long> moments, long moment) {
    while (peers ? moments.peek() < moment - preceding : inside.size() > preceding + 1) {
      aggregates.add(inside.remove(), -1);
      moments.remove();
    }
  }

  @Override
  public void forget(SortedMap<Long, List<Row>> rows, long passed) {
    if (peers) {
      // The next row is later than the passed time.
      rows.headMap(passed + 1 - preceding).clear();
      return;
    }
    List<Long> moments = new ArrayList<>(rows.headMap(passed + 1).keySet());
    long room = preceding;
    for (int i = moments.size() - 1; i >= 0; i--) {
      List<Row> kept = rows.get(moments.get(i));
      if (room == 0) {
        rows.remove(moments.get(i));
      } else if (kept.size() > room) {
        rows.put(moments.get(i), List.copyOf(kept.subList(kept.size() - (int) room, kept.size())));
        room = 0;
      } else {
        room -= kept.size();
      }
    }
  }

  @Override
  public Long expiry(long moment) {
    return peers ? moment + preceding : null;
  }
}
