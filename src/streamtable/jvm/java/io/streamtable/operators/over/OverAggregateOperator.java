package io.streamtable.operators.over;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.aggregate.Aggregation;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.state.IdleTime;
import io.streamtable.operators.state.Lateness;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Emits rows with aggregates over preceding rows when the watermark passes; see
 * {@link OverProcessor}.
 *
 * <p>The input ends with each row's event time in milliseconds and with `positions` position
 * columns.
 *
 * @param peers whether the frame is RANGE
 * @param preceding number of rows, or milliseconds, of the frame in addition to the current ones;
 *     null for UNBOUNDED
 * @param positions number of columns at the end that define the arrival order of rows with the same
 *     event time
 * @param ttl see {@link IdleTime}
 */
public record OverAggregateOperator(
    List<String> keys,
    List<Aggregation> calls,
    boolean peers,
    Long preceding,
    boolean bitmaps,
    int positions,
    Lateness lateness,
    long ttl,
    String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    StructType schema = input.schema();
    int momentAt = schema.length() - positions - 1;
    OverFrame frame = OverFrame.of(calls, peers, preceding, bitmaps);
    StructType row = new StructType(Arrays.copyOf(schema.fields(), momentAt));
    RowOrder asCame = Keyed.lastColumns(input, positions + 1);
    return Keyed.waiting(
        input, keys, new OverProcessor(row, frame, asCame, lateness, ttl), outputDdl);
  }
}
