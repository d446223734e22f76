package io.streamtable.operators.over;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.aggregate.Aggregation;
import io.streamtable.operators.state.ExpiringState;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Emits each row at once with aggregates over the rows that arrived before it; see
 * {@link ProcessingTimeOverProcessor}.
 *
 * <p>The input ends with `positions` position columns.
 *
 * @param preceding number of rows, or microseconds, of the frame; null for UNBOUNDED
 * @param time the column of a time frame, in microseconds; null for other frames
 * @param ttl see {@link ExpiringState#of}
 */
public record ProcessingTimeOverOperator(
    List<String> keys,
    List<Aggregation> calls,
    Long preceding,
    String time,
    boolean bitmaps,
    int positions,
    long ttl,
    String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    StructType schema = input.schema();
    int timeAt = time == null ? -1 : schema.fieldIndex(time);
    int end = schema.length() - positions - (time == null ? 0 : 1);
    OverFrame frame = OverFrame.of(calls, time != null, preceding, bitmaps);
    StructType row = new StructType(Arrays.copyOf(schema.fields(), end));
    ProcessingTimeOverProcessor processor =
        new ProcessingTimeOverProcessor(row, frame, Keyed.lastColumns(input, positions), timeAt, ttl);
    return Keyed.stateful(input, keys, processor, ttl > 0, outputDdl);
  }
}
