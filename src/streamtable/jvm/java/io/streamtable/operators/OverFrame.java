package io.streamtable.operators;

import java.io.Serializable;
import java.util.List;
import java.util.SortedMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;

/**
 * The aggregates over the rows that come before each row of one partition, itself included.
 *
 * <p>Rows are (row kind, columns...); results are (row kind, columns..., aggregates...).
 */
interface OverFrame extends Serializable {
  /** Opens state of its own. */
  default void open(StatefulProcessorHandle handle) {}

  /**
   * The results of the rows behind a moment; rows up to it are those that {@link #forget} left.
   *
   * @param rows by their moments; those of a moment in the order in which they came
   * @param passed the last moment whose rows have their results
   */
  List<Row> results(SortedMap<Long, List<Row>> rows, long passed);

  /**
   * Leaves of the rows up to a moment, all of which have their results, what later ones need.
   *
   * @param rows by their moments; changed in place
   */
  void forget(SortedMap<Long, List<Row>> rows, long passed);

  /** Forgets the current partition. */
  default void clear() {}

  /** The moment at which the rows of another are needed no more; null where time does not tell. */
  default Long expiry(long moment) {
    return null;
  }

  /** A row with its aggregates. */
  static Row result(Row row, Object[] aggregates) {
    Object[] columns = new Object[row.length() + aggregates.length];
    for (int i = 0; i < row.length(); i++) {
      columns[i] = row.get(i);
    }
    System.arraycopy(aggregates, 0, columns, row.length(), aggregates.length);
    return RowFactory.create(columns);
  }
}
