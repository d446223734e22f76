package io.streamtable.operators.window;

import io.streamtable.functions.WindowZone;
import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.aggregate.Aggregation;
import io.streamtable.operators.aggregate.FoldInput;
import io.streamtable.operators.aggregate.MergedAggregates;
import io.streamtable.operators.aggregate.PartialRows;
import io.streamtable.operators.state.Lateness;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;

/**
 * Emits one row per session when the watermark passes; see {@link MergedSessionProcessor}. For input
 * and parameters see {@link SessionAggregateOperator}.
 *
 * @param fold whether to merge sessions locally before the shuffle; see {@link LocalSessions}
 */
public record MergedSessionOperator(
    List<String> keys,
    List<Aggregation> calls,
    String zone,
    boolean fold,
    Lateness lateness,
    String outputDdl)
    implements OperatorSpec {
  private static final List<StructField> SPAN =
      List.of(
          DataTypes.createStructField("start", DataTypes.LongType, false),
          DataTypes.createStructField("end", DataTypes.LongType, false));

  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    Dataset<Row> rows = input;
    int startAt = input.schema().length() - SPAN.size();
    PartialRows partials = null;
    if (fold) {
      partials = MergedAggregates.partials(keys.size() + SPAN.size(), calls);
      FoldInput read =
          FoldInput.of(input, Keyed.at(input, keys), calls, startAt, startAt + 1);
      startAt = 1 + keys.size();
      LocalSessions local =
          new LocalSessions(
              new MergedAggregates(read.calls(), SPAN, null), read.keys(0), startAt);
      rows =
          read.restored(
              Keyed.folded(
                  read.rows(),
                  local,
                  partials.schema(read.rows().schema(), read.keys(SPAN.size()))));
    }
    MergedAggregates aggregates = new MergedAggregates(calls, SPAN, partials);
    MergedSessionProcessor processor =
        new MergedSessionProcessor(
            aggregates, keys.size(), startAt, WindowZone.of(zone), lateness);
    return Keyed.waiting(rows, keys, processor, outputDdl);
  }
}
