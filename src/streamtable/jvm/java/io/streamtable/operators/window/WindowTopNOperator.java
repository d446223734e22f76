package io.streamtable.operators.window;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.rank.TopNSpec;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.row.SortColumn;
import io.streamtable.operators.state.Lateness;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Emits the first rows of each partition of a window when the watermark passes; see
 * {@link WindowTopNProcessor}.
 *
 * <p>The input ends with the window's last millisecond.
 */
public record WindowTopNOperator(
    List<String> keys,
    List<SortColumn> order,
    int skip,
    int limit,
    boolean ranked,
    Lateness lateness,
    String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    String[] names = input.columns();
    StructType row =
        input.drop(names[RowKind.POSITION]).drop(names[names.length - 1]).schema();
    TopNSpec spec =
        new TopNSpec(
            row, RowOrder.by(order), skip, limit, false, false, null, ranked, null, false, 0);
    return Keyed.waiting(input, keys, new WindowTopNProcessor(spec, lateness), outputDdl);
  }
}
