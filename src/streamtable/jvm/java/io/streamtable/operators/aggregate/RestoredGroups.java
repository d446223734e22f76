package io.streamtable.operators.aggregate;

import io.streamtable.operators.RestoredState;
import io.streamtable.operators.accumulator.Accumulator;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * State of another group aggregation with which an operator starts.
 *
 * @param state its state; the first variable is the state row of a group
 * @param calls its calls
 * @param sources for each call of the new operator the position of a call with the same state, or
 *     {@link #ROWS}, or {@link RestoredState#EMPTY}
 * @param emitted see {@link RestoredState#under}
 */
public record RestoredGroups(
    RestoredState state, List<StoredCall> calls, List<Integer> sources, boolean emitted) {
  /** The state of the call is the number of rows of the group. */
  private static final int ROWS = -2;

  /** Applies a processor that starts with the state, or returns the rows of its groups. */
  Dataset<Row> under(
      Dataset<Row> input,
      List<String> keys,
      GroupAggregateProcessor processor,
      List<Accumulator> accumulators,
      boolean retracting,
      String outputDdl) {
    int[] columns = columns(accumulators, retracting);
    return state.under(input, keys, processor, columns, emitted, outputDdl);
  }

  /** Returns where each column of the new state row is in the stored one. */
  private int[] columns(List<Accumulator> accumulators, boolean retracting) {
    int[] starts = new int[calls.size()];
    int next = 1;
    for (int i = 0; i < starts.length; i++) {
      starts[i] = next;
      next += calls.get(i).columns(retracting);
    }
    int stored = ((StructType) state.rows().schema().apply("value0").dataType()).length();
    if (stored != next) {
      throw new IllegalStateException("the state has " + stored + " columns instead of " + next);
    }
    int length = 1;
    for (Accumulator accumulator : accumulators) {
      length += accumulator.columns("").size();
    }
    int[] columns = new int[length];
    int at = 1;
    for (int i = 0; i < accumulators.size(); i++) {
      int source = sources.get(i);
      for (int j = 0; j < accumulators.get(i).columns("").size(); j++) {
        columns[at++] =
            source >= 0 ? starts[source] + j : source == ROWS ? 0 : RestoredState.EMPTY;
      }
    }
    return columns;
  }
}
