package io.streamtable.operators.window;

import io.streamtable.operators.aggregate.Aggregation;
import io.streamtable.operators.aggregate.HeapAggregates;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.window.Sessions.Session;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import scala.Tuple2;

/** Computes the output of a session that has ended. */
interface SessionOutput extends Serializable {
  /**
   * Adds the output rows of one session.
   *
   * @param last the event time of the results: the session's last millisecond
   * @param inside the session's rows in the order of event time, each with its count, which is
   *     negative for retractions that differ from their rows; they end with the start and end of
   *     their own session
   */
  void add(Row key, Session session, long last, List<Tuple2<Row, Long>> inside, List<Row> output);

  /** Emits one row of (row kind, key columns..., start, end, last, aggregates...). */
  record Aggregates(List<Aggregation> calls, int keys) implements SessionOutput {
    @Override
    public void add(
        Row key, Session session, long last, List<Tuple2<Row, Long>> inside, List<Row> output) {
      if (inside.stream().mapToLong(Tuple2::_2).sum() <= 0) {
        return;
      }
      Object[] results = HeapAggregates.of(calls, inside);
      Object[] columns = new Object[1 + keys + 3 + results.length];
      columns[RowKind.POSITION] = RowKind.INSERT;
      for (int i = 0; i < keys; i++) {
        columns[1 + i] = key.get(i);
      }
      bounds(columns, 1 + keys, session.start(), session.end(), last);
      System.arraycopy(results, 0, columns, 4 + keys, results.length);
      output.add(RowFactory.create(columns));
    }
  }

  /** Emits the rows themselves: (row kind, columns..., start, end, last). */
  record Rows() implements SessionOutput {
    @Override
    public void add(
        Row key, Session session, long last, List<Tuple2<Row, Long>> inside, List<Row> output) {
      for (Tuple2<Row, Long> entry : inside) {
        Row row = entry._1();
        Object[] columns = new Object[row.length() + 1];
        for (int i = 0; i < row.length() - 2; i++) {
          columns[i] = row.get(i);
        }
        bounds(columns, row.length() - 2, session.start(), session.end(), last);
        Row given = RowFactory.create(columns);
        for (long i = 0; i < entry._2(); i++) {
          output.add(given);
        }
      }
    }
  }

  /** Writes the bounds of a window to an output row. */
  static void bounds(Object[] columns, int at, long start, long end, long last) {
    columns[at] = start;
    columns[at + 1] = end;
    columns[at + 2] = last;
  }
}
