package io.streamtable.operators.window;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.aggregate.Aggregation;
import io.streamtable.operators.aggregate.LocalAggregate;
import io.streamtable.operators.aggregate.PartialRows;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.state.Lateness;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Emits one row per window and group when the watermark passes; see
 * {@link WindowAggregateProcessor}.
 *
 * @param keys grouping columns; the last one is the window's last millisecond
 * @param fold whether to aggregate locally before the shuffle; see {@link LocalAggregate}
 * @param order positions of columns that define the order of rows, for aggregates that depend on it
 */
public record WindowAggregateOperator(
    List<String> keys,
    List<Aggregation> calls,
    boolean retracting,
    boolean bitmaps,
    boolean fold,
    List<Integer> order,
    Lateness lateness,
    String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    List<Accumulator> accumulators = Aggregation.accumulators(calls, retracting, bitmaps);
    boolean ordered = accumulators.stream().anyMatch(Accumulator::ordered);
    boolean folds = fold && !ordered;
    PartialRows partials = folds ? new PartialRows(keys.size(), accumulators) : null;
    Dataset<Row> rows = folds ? LocalAggregate.of(input, keys, calls, accumulators, partials) : input;
    RowOrder asCame = ordered ? RowOrder.ascending(Keyed.positions(order)) : null;
    return Keyed.waiting(
        rows,
        keys,
        new WindowAggregateProcessor(
            calls, accumulators, keys.size() - 1, partials, asCame, lateness),
        outputDdl);
  }
}
