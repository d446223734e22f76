package io.streamtable.operators.fanout;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;

/** The filters and projections of one query, applied to single rows. */
interface QueryRows extends Serializable {
  /** Compiles them for one task. */
  void open(int task);

  /** Returns a new row for an input row; null if a filter drops the row. */
  InternalRow of(InternalRow input);

  /** Returns the rows of a query for its sink, then the place of the query. */
  static QueryRows last(RowChain chain, int place) {
    return new QueryRows() {
      @Override
      public void open(int task) {
        if (chain != null) {
          chain.open(task);
        }
      }

      @Override
      public InternalRow of(InternalRow input) {
        return chain == null ? null : chain.apply(input, place);
      }
    };
  }
}
