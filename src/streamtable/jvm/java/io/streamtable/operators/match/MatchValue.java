package io.streamtable.operators.match;

import io.streamtable.operators.aggregate.Aggregation;
import io.streamtable.operators.aggregate.HeapAggregates;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Row;

/**
 * A value of a match: a column of one of its rows, or an aggregate over rows.
 *
 * @param variable number of the variable of the rows; -1 for all variables
 * @param column position of the column in a row
 * @param first whether rows are counted from the first one, otherwise from the last one
 * @param offset number of rows to skip
 * @param aggregation the aggregate; null for a column
 */
public record MatchValue(
    int variable, int column, boolean first, int offset, Aggregation aggregation)
    implements Serializable {
  /**
   * Returns the value.
   *
   * @param match the match, which may be partial
   * @param current variable that the newest row is tried for; below 0 if the match is complete
   */
  Object of(PartialMatch match, int current, MatchRows rows) {
    boolean whole = variable < 0;
    int counted = whole ? match.rows() : match.counts()[variable];
    int size = counted + (current >= 0 && (whole || variable == current) ? 1 : 0);
    long from = match.isEmpty() ? 0 : match.start() + (whole ? 0 : match.before(variable));
    if (aggregation == null) {
      int place = first ? offset : size - 1 - offset;
      return size <= offset ? null : row(from, place, counted, rows).get(column);
    }
    HeapAggregates aggregates = new HeapAggregates(List.of(aggregation), false);
    for (int place = 0; place < size; place++) {
      aggregates.add(row(from, place, counted, rows), 1);
    }
    return aggregates.results()[0];
  }

  private static Row row(long from, int place, int counted, MatchRows rows) {
    return place < counted ? rows.get(from + place) : rows.newest();
  }
}
