package io.streamtable.operators.window;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.aggregate.Aggregation;
import io.streamtable.operators.aggregate.LocalAggregate;
import io.streamtable.operators.aggregate.MergedAggregates;
import io.streamtable.operators.aggregate.PartialRows;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.state.Lateness;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructType;

/**
 * Emits one row per window and group when the watermark passes; see
 * {@link BucketedWindowProcessor}.
 *
 * <p>The last column of the input is the window's last millisecond. Input is append-only.
 *
 * @param keys grouping columns, with those of the window
 * @param fold whether to aggregate locally before the shuffle; see {@link LocalAggregate}
 */
public record BucketedWindowOperator(
    List<String> keys, List<Aggregation> calls, boolean fold, Lateness lateness, String outputDdl)
    implements OperatorSpec {
  /** Buckets of a window. A part of the state layout: the bucket of a group never changes. */
  private static final int BUCKETS = 64;

  private static final String BUCKET = "__bucket";

  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    String last = input.columns()[input.columns().length - 1];
    Dataset<Row> rows = input;
    PartialRows partials = null;
    if (fold) {
      List<String> grouping = new ArrayList<>(keys);
      grouping.add(last);
      partials = MergedAggregates.partials(grouping.size(), calls);
      rows = LocalAggregate.of(
          input, grouping, calls, Aggregation.accumulators(calls, false, false), partials);
    }
    int[] keysAt = Keyed.at(rows, keys);
    StructType key = new StructType();
    for (int at : keysAt) {
      // Rows that were aggregated before the shuffle may differ from others in what can be NULL.
      key = key.add("key" + key.length(), rows.schema().apply(at).dataType(), true);
    }
    return Keyed.waiting(
        bucketed(rows, keysAt),
        List.of(BUCKET, last),
        new BucketedWindowProcessor(
            new MergedAggregates(calls, List.of(), partials),
            key,
            keysAt,
            lateness),
        outputDdl);
  }

  /** Appends the bucket of each row. */
  private static Dataset<Row> bucketed(Dataset<Row> rows, int[] keysAt) {
    Dataset<Row> plain = rows.toDF(Plain.names(rows.columns().length));
    Column[] keys =
        Arrays.stream(keysAt).mapToObj(at -> plain.col("c" + at)).toArray(Column[]::new);
    Column bucket = functions.pmod(functions.hash(keys), functions.lit(BUCKETS));
    List<String> names = new ArrayList<>(List.of(rows.columns()));
    names.add(BUCKET);
    return plain.withColumn(BUCKET, bucket).toDF(names.toArray(new String[0]));
  }
}
