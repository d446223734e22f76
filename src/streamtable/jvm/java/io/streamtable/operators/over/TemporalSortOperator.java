package io.streamtable.operators.over;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.row.SortColumn;
import io.streamtable.operators.state.Lateness;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Emits all rows in the order of event time when the watermark passes them; see
 * {@link OverProcessor}.
 *
 * <p>The input is that of {@link OverAggregateOperator}.
 *
 * @param order order of rows with the same event time, by columns without the row kind
 * @param positions number of columns at the end that define the arrival order of rows with the same
 *     event time
 */
public record TemporalSortOperator(
    List<SortColumn> order, int positions, Lateness lateness, String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    StructType schema = input.schema();
    int momentAt = schema.length() - positions - 1;
    OverFrame frame = new SortFrame(RowOrder.by(order).shifted(RowKind.POSITION + 1));
    StructType row = new StructType(Arrays.copyOf(schema.fields(), momentAt));
    RowOrder asCame = Keyed.lastColumns(input, positions + 1);
    OverProcessor processor = new OverProcessor(row, frame, asCame, lateness, 0);
    return Keyed.waiting(input, List.of(), processor, outputDdl);
  }
}
