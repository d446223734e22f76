package io.streamtable.operators.fanout;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;

/** What one query does with single rows. */
interface QueryRows extends Serializable {
  /** Compiles it for one task. */
  void open(int task);

  /** Adds the new rows that follow from an input row. */
  void apply(InternalRow input, List<InternalRow> output);

  /** Returns the rows of a query for its sink, then the place of the query. */
  static QueryRows last(RowSteps steps, int place) {
    return new QueryRows() {
      @Override
      public void open(int task) {
        steps.open(task);
      }

      @Override
      public void apply(InternalRow input, List<InternalRow> output) {
        steps.apply(input, place, output);
      }
    };
  }
}
