package io.streamtable.operators.window;

import io.streamtable.operators.LocalFold;
import io.streamtable.operators.aggregate.MergedAggregates;
import io.streamtable.operators.row.RowKind;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * Merges and aggregates the sessions of each group within a task before the shuffle: rows that meet
 * are in one session, whatever rows other tasks have.
 */
final class LocalSessions extends LocalFold {
  /** Position of the end of a session, after its start. */
  static final int END = 1;

  /** Merges input rows into disjoint sessions. */
  record Spans(MergedAggregates aggregates) implements Serializable {
    /** Adds an input row to the sessions by their start; its start and end are at a position. */
    void add(TreeMap<Long, Object[]> sessions, Row row, int at) {
      long start = row.getLong(at);
      long end = row.getLong(at + 1);
      Map.Entry<Long, Object[]> found = sessions.floorEntry(end);
      if (found != null && found.getKey() <= start && start <= (Long) found.getValue()[END]) {
        aggregates.add(found.getValue(), row);
        found.getValue()[END] = Math.max(end, (Long) found.getValue()[END]);
        return;
      }
      Object[] session = aggregates.empty();
      aggregates.add(session, row);
      // Spans that touch are one session, as in Flink.
      while (found != null && (Long) found.getValue()[END] >= start) {
        start = Math.min(start, found.getKey());
        end = Math.max(end, (Long) found.getValue()[END]);
        aggregates.merge(session, found.getValue());
        sessions.remove(found.getKey());
        found = sessions.floorEntry(end);
      }
      session[MergedWindowProcessor.START] = start;
      session[END] = end;
      sessions.put(start, session);
    }
  }

  private final Spans spans;
  private final int startAt;

  /** @param startAt position of the start in input rows; the end follows */
  LocalSessions(MergedAggregates aggregates, int[] keyPositions, int startAt) {
    super(keyPositions);
    this.spans = new Spans(aggregates);
    this.startAt = startAt;
  }

  @Override
  protected Iterator<Row> fold(Iterator<Row> input) {
    Map<Object, TreeMap<Long, Object[]>> groups = new HashMap<>();
    int rows = 0;
    int held = 0;
    boolean worth = true;
    while (worth && rows < MAX_ROWS && held < MAX_HELD && input.hasNext()) {
      Row row = input.next();
      TreeMap<Long, Object[]> sessions = groups.computeIfAbsent(key(row), key -> new TreeMap<>());
      held -= sessions.size();
      spans.add(sessions, row, startAt);
      held += sessions.size();
      rows++;
      worth = rows != TRIED || saves(rows, held, WORTH_TRYING);
    }
    List<Row> folded = new ArrayList<>(held);
    groups.forEach(
        (key, sessions) -> sessions.values().forEach(session -> folded.add(row(key, session))));
    return worth && saves(rows, held, WORTH)
        ? folded.iterator()
        : chained(folded.iterator(), singly(input));
  }

  private Iterator<Row> singly(Iterator<Row> input) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return input.hasNext();
      }

      @Override
      public Row next() {
        Row row = input.next();
        TreeMap<Long, Object[]> alone = new TreeMap<>();
        spans.add(alone, row, startAt);
        return row(key(row), alone.firstEntry().getValue());
      }
    };
  }

  private Row row(Object key, Object[] session) {
    int keys = keyPositions.length;
    Object[] row = new Object[1 + keys + session.length];
    row[RowKind.POSITION] = RowKind.INSERT;
    putKey(key, row);
    System.arraycopy(session, 0, row, 1 + keys, session.length);
    return RowFactory.create(row);
  }
}
