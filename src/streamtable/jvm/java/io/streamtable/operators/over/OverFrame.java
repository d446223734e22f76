package io.streamtable.operators.over;

import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.aggregate.AggregateState;
import io.streamtable.operators.aggregate.Aggregation;
import java.io.Serializable;
import java.util.List;
import java.util.SortedMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;

/**
 * Computes the aggregates over the preceding rows and the current row, for each row of one
 * partition.
 *
 * <p>Rows are (row kind, columns...); results are (row kind, columns..., aggregates...).
 */
interface OverFrame extends Serializable {
  /** Creates a frame with a number of preceding rows or a length of time; null for UNBOUNDED. */
  static OverFrame of(
      List<Aggregation> calls, boolean peers, Long preceding, boolean bitmaps) {
    if (preceding != null) {
      return new SlidingFrame(calls, peers, preceding);
    }
    List<Accumulator> accumulators = Aggregation.accumulators(calls, false, bitmaps);
    return new UnboundedFrame(new AggregateState(calls, accumulators, null, null, false), peers);
  }

  /** Opens the frame's own state. */
  default void open(StatefulProcessorHandle handle) {}

  /**
   * Returns the results of the rows after a time. Rows up to that time are those that
   * {@link #forget} kept.
   *
   * @param rows rows by event time; rows with the same event time are in arrival order
   * @param passed the last event time whose rows already have results
   */
  List<Row> results(SortedMap<Long, List<Row>> rows, long passed);

  /**
   * Removes the rows up to a time that later rows do not need. All of them have results.
   *
   * @param rows rows by event time; changed in place
   * @param passed the last event time whose rows have results
   */
  void forget(SortedMap<Long, List<Row>> rows, long passed);

  /** Clears the current partition. */
  default void clear() {}

  /**
   * Returns the time from which rows of an event time are no longer needed; null if it does not
   * depend on time.
   */
  default Long expiry(long moment) {
    return null;
  }

  /** Returns a row with its aggregates. */
  static Row result(Row row, Object[] aggregates) {
    Object[] columns = new Object[row.length() + aggregates.length];
    for (int i = 0; i < row.length(); i++) {
      columns[i] = row.get(i);
    }
    System.arraycopy(aggregates, 0, columns, row.length(), aggregates.length);
    return RowFactory.create(columns);
  }
}
