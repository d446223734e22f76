package io.streamtable.operators.window;

import io.streamtable.functions.WindowZone;
import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.aggregate.Aggregation;
import io.streamtable.operators.aggregate.LocalAggregate;
import io.streamtable.operators.aggregate.MergedAggregates;
import io.streamtable.operators.aggregate.PartialRows;
import io.streamtable.operators.state.Lateness;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;

/**
 * Emits one row per window and group when the watermark passes; see {@link SlicedWindowProcessor}.
 *
 * <p>The last column of the input is the start of the row's slice. Output rows are (row kind,
 * keys..., start, end, last, aggregates...); all times are milliseconds.
 *
 * @param keys grouping columns, without those of the window
 * @param size see {@link Slices}
 * @param zone time zone of the windows' milliseconds
 * @param fold whether to aggregate locally before the shuffle; see {@link LocalAggregate}
 */
public record SlicedWindowOperator(
    List<String> keys,
    List<Aggregation> calls,
    long size,
    long step,
    long offset,
    boolean cumulative,
    String zone,
    boolean fold,
    Lateness lateness,
    String outputDdl)
    implements OperatorSpec {
  private static final StructField START =
      DataTypes.createStructField("start", DataTypes.LongType, false);

  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    Dataset<Row> rows = input;
    int startAt = input.schema().length() - 1;
    PartialRows partials = null;
    if (fold) {
      List<String> sliced = new ArrayList<>(keys);
      sliced.add(input.columns()[startAt]);
      partials = MergedAggregates.partials(sliced.size(), calls);
      rows = LocalAggregate.of(
          input, sliced, calls, Aggregation.accumulators(calls, false, false), partials);
      startAt = sliced.size();
    }
    MergedAggregates aggregates = new MergedAggregates(calls, List.of(START), partials);
    SlicedWindowProcessor processor =
        new SlicedWindowProcessor(
            new Slices(size, step, offset, cumulative),
            aggregates,
            keys.size(),
            startAt,
            WindowZone.of(zone),
            lateness);
    return Keyed.waiting(rows, keys, processor, outputDdl);
  }
}
