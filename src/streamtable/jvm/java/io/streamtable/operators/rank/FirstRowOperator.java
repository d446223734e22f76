package io.streamtable.operators.rank;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.over.OverAggregateOperator;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.state.IdleTime;
import io.streamtable.operators.state.Lateness;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Emits the first row of each partition when the watermark passes; see {@link FirstRowProcessor}.
 *
 * <p>The input is that of {@link OverAggregateOperator}.
 *
 * @param positions number of columns at the end that define the arrival order of rows with the same
 *     event time
 * @param ttl see {@link IdleTime}
 */
public record FirstRowOperator(
    List<String> keys, int positions, Lateness lateness, long ttl, String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    StructType schema = input.schema();
    int momentAt = schema.length() - positions - 1;
    RowOrder order = Keyed.lastColumns(input, positions + 1);
    return Keyed.waiting(
        input, keys, new FirstRowProcessor(schema, momentAt, order, lateness, ttl), outputDdl);
  }
}
