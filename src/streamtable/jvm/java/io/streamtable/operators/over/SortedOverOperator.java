package io.streamtable.operators.over;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.aggregate.Aggregation;
import io.streamtable.operators.row.InexactRetractions;
import io.streamtable.operators.row.NetRows;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.state.ExpiringState;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Emits rows with aggregates over the rows up to them; see {@link SortedOverProcessor}.
 *
 * @param order positions of the columns that rows are sorted by, without the row kind; the first is
 *     from the query's ORDER BY
 * @param peers whether the frame is RANGE
 * @param begins whether the first change of a row may be a retraction; it is then ignored
 * @param rowKey positions, or null; see {@link InexactRetractions}
 * @param outputKey positions, or null; see {@link NetRows#changes}
 * @param ttl see {@link ExpiringState#of}
 */
public record SortedOverOperator(
    List<String> keys,
    List<Aggregation> calls,
    List<Integer> order,
    boolean nullsFirst,
    boolean peers,
    boolean begins,
    List<Integer> rowKey,
    List<Integer> outputKey,
    boolean before,
    long ttl,
    String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    int[] columns = Keyed.positions(order);
    boolean[] first = new boolean[columns.length];
    first[0] = nullsFirst;
    SortedOverProcessor processor =
        new SortedOverProcessor(
            input.drop(input.columns()[RowKind.POSITION]).schema(),
            calls,
            new RowOrder(columns, new boolean[columns.length], first),
            peers ? columns[0] : -1,
            begins,
            Keyed.positions(rowKey),
            Keyed.positions(outputKey),
            before,
            ttl);
    return Keyed.stateful(input, keys, processor, ttl > 0, outputDdl);
  }
}
