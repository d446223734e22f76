package io.streamtable.operators.rank;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.row.RowOrder;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Emits the first rows to arrive; see {@link LimitProcessor}.
 *
 * <p>The input ends with `positions` position columns.
 *
 * @param fold whether each task prunes its rows before the shuffle; see {@link LocalTopN}
 * @param skip number of first rows to skip
 * @param limit number of rows after those
 */
public record LimitOperator(boolean fold, int skip, int limit, int positions, String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    RowOrder order = Keyed.lastColumns(input, positions);
    LocalTopN local = new LocalTopN(new int[0], order, skip + limit);
    Dataset<Row> rows = fold ? Keyed.folded(input, local, input.schema()) : input;
    int columns = input.schema().length() - positions;
    LimitProcessor processor = new LimitProcessor(order, skip, limit, columns);
    return Keyed.stateful(rows, List.of(), processor, false, outputDdl);
  }
}
