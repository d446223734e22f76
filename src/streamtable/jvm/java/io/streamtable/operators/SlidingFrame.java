package io.streamtable.operators;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.apache.spark.sql.Row;

/**
 * So many rows, or so much time, before each row: the rows are kept, the aggregates are not.
 *
 * <p>What is kept is added up anew for a batch; then rows come in and go out one by one.
 */
final class SlidingFrame implements OverFrame {
  private final List<Aggregation> calls;
  private final boolean peers;
  private final long preceding;

  /**
   * @param peers whether the frame is one of time (RANGE), or one of rows (ROWS)
   * @param preceding how many milliseconds, or rows, it holds beside the current moment, or row
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
      boolean told = entry.getKey() > passed;
      for (Row row : entry.getValue()) {
        aggregates.add(row, 1);
        inside.add(row);
        moments.add(entry.getKey());
        if (told && !peers) {
          shrink(aggregates, inside, moments, entry.getKey());
          output.add(OverFrame.result(row, aggregates.results()));
        }
      }
      if (told && peers) {
        shrink(aggregates, inside, moments, entry.getKey());
        Object[] results = aggregates.results();
        entry.getValue().forEach(row -> output.add(OverFrame.result(row, results)));
      }
    }
    return output;
  }

  /** Takes the rows out that the frame has left behind. */
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
      // The next row is later than what has passed.
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
