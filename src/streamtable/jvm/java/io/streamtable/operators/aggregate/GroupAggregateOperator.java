package io.streamtable.operators.aggregate;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.state.ExpiringState;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Emits at most one change per group and batch; see {@link GroupAggregateProcessor}.
 *
 * @param retracting whether the input may contain retractions
 * @param unknown whether the input may contain retractions of rows that it has never added; such
 *     input is not aggregated before the shuffle, where no group is known
 * @param before whether to emit update-before rows
 * @param bitmaps whether distinct integers may be kept as bitmaps
 * @param fold whether to aggregate locally before the shuffle if the order does not matter; see
 *     {@link LocalAggregate}
 * @param order positions of columns that define the order of rows, for aggregates that depend on it
 * @param ttl see {@link ExpiringState#of}; with a TTL, input with retractions is not aggregated
 *     before the shuffle
 * @param restored state with which the operator starts; null if it has none
 */
public record GroupAggregateOperator(
    List<String> keys,
    List<Aggregation> calls,
    boolean retracting,
    boolean unknown,
    boolean before,
    boolean bitmaps,
    boolean fold,
    List<Integer> order,
    long ttl,
    String outputDdl,
    RestoredGroups restored)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    List<Accumulator> accumulators = Aggregation.accumulators(calls, retracting, bitmaps);
    boolean ordered = accumulators.stream().anyMatch(Accumulator::ordered);
    boolean ignoring = retracting && (unknown || ttl > 0);
    boolean folds = fold && !ordered && !ignoring;
    PartialRows partials = folds ? new PartialRows(keys.size(), accumulators) : null;
    Dataset<Row> rows = folds ? LocalAggregate.of(input, keys, calls, accumulators, partials) : input;
    RowOrder asCame = ordered ? RowOrder.ascending(Keyed.positions(order)) : null;
    GroupAggregateProcessor processor =
        new GroupAggregateProcessor(
            calls, accumulators, keys.size(), before, partials, asCame, ignoring, ttl);
    return restored == null
        ? Keyed.stateful(rows, keys, processor, ttl > 0, outputDdl)
        : restored.under(rows, keys, processor, accumulators, retracting, outputDdl);
  }
}
