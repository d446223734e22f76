package io.streamtable.operators.changelog;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.state.ExpiringState;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Keeps one row of each key; see {@link MaterializeProcessor}.
 *
 * @param order positions of columns that define the arrival order of changes in a batch
 * @param unique whether a key has at most one row
 * @param ttl see {@link ExpiringState#of}
 */
public record MaterializeOperator(
    List<String> keys, String rowDdl, List<Integer> order, boolean unique, long ttl, String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    RowOrder asCame = RowOrder.ascending(Keyed.positions(order));
    return Keyed.stateful(
        input, keys, new MaterializeProcessor(rowDdl, asCame, unique, ttl), ttl > 0, outputDdl);
  }
}
