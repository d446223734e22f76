package io.streamtable.operators.aggregate;

import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.state.HeapState;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import scala.Tuple2;

/** Aggregates rows in memory, with the accumulators of the stateful operators. */
public final class HeapAggregates {
  private final List<Aggregation> calls;
  private final List<Accumulator> accumulators = new ArrayList<>();

  /**
   * Creates aggregates without rows.
   *
   * @param retracting whether rows may be retracted
   */
  public HeapAggregates(List<Aggregation> calls, boolean retracting) {
    this.calls = calls;
    HeapState state = new HeapState();
    for (int i = 0; i < calls.size(); i++) {
      Accumulator accumulator = calls.get(i).accumulator(retracting, false);
      accumulator.open(state, "agg" + i);
      accumulator.load(new Object[accumulator.columns("agg" + i).size()], 0);
      accumulators.add(accumulator);
    }
  }

  /** Returns the results of rows with their counts, which are negative for retractions. */
  public static Object[] of(List<Aggregation> calls, List<Tuple2<Row, Long>> rows) {
    boolean retracting = rows.stream().anyMatch(entry -> entry._2() < 0);
    HeapAggregates aggregates = new HeapAggregates(calls, retracting);
    for (Tuple2<Row, Long> entry : rows) {
      for (long copy = 0; copy < Math.abs(entry._2()); copy++) {
        aggregates.add(entry._1(), entry._2() < 0 ? -1 : 1);
      }
    }
    return aggregates.results();
  }

  /** Adds ({@code sign} 1) or retracts (-1) a row. */
  public void add(Row row, int sign) {
    for (int i = 0; i < calls.size(); i++) {
      Object value = calls.get(i).value(row);
      if (value != null) {
        accumulators.get(i).add(value, sign);
      }
    }
  }

  /** Returns the results of the current rows. More rows may be added afterwards. */
  public Object[] results() {
    Object[] results = new Object[accumulators.size()];
    for (int i = 0; i < results.length; i++) {
      accumulators.get(i).finish();
      results[i] = accumulators.get(i).result();
    }
    return results;
  }
}
