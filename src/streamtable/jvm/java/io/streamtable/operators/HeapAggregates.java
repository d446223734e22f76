package io.streamtable.operators;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import scala.Tuple2;

/** Aggregates over rows that are at hand all at once, by the accumulators that others keep. */
final class HeapAggregates implements Serializable {
  private final List<Aggregation> calls;
  private transient List<Accumulator> accumulators;

  HeapAggregates(List<Aggregation> calls) {
    this.calls = calls;
  }

  /** The results over rows and how often each is there. */
  Object[] of(List<Tuple2<Row, Long>> rows) {
    open();
    for (int i = 0; i < calls.size(); i++) {
      Aggregation call = calls.get(i);
      Accumulator accumulator = accumulators.get(i);
      for (Tuple2<Row, Long> entry : rows) {
        Object value = call.value(entry._1());
        for (long copy = 0; value != null && copy < entry._2(); copy++) {
          accumulator.add(value, 1);
        }
      }
      accumulator.finish();
    }
    return accumulators.stream().map(Accumulator::result).toArray();
  }

  private void open() {
    HeapState state = new HeapState();
    accumulators = new ArrayList<>();
    for (int i = 0; i < calls.size(); i++) {
      Accumulator accumulator = calls.get(i).accumulator(false, false);
      accumulator.open(state, "agg" + i);
      accumulator.load(new Object[accumulator.columns("agg" + i).size()], 0);
      accumulators.add(accumulator);
    }
  }
}
