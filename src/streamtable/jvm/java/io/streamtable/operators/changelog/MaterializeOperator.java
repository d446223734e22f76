package io.streamtable.operators.changelog;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.row.InexactRetractions;
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
 * @param begins whether the first change of a row may be a retraction; it is then ignored
 * @param rowKey positions without the row kind, or null; see {@link InexactRetractions}
 * @param ttl see {@link ExpiringState#of}
 */
public record MaterializeOperator(
    List<String> keys,
    String rowDdl,
    List<Integer> order,
    boolean unique,
    boolean begins,
    List<Integer> rowKey,
    long ttl,
    String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    RowOrder asCame = RowOrder.ascending(Keyed.positions(order));
    MaterializeProcessor processor =
        new MaterializeProcessor(rowDdl, asCame, unique, begins, Keyed.positions(rowKey), ttl);
    return Keyed.stateful(input, keys, processor, ttl > 0, outputDdl);
  }
}
