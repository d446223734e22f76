package io.streamtable.operators.rank;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.row.NetRows;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.row.SortColumn;
import io.streamtable.operators.state.ExpiringState;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Keeps the first rows of each partition; see {@link TopNProcessor} and {@link TopOneProcessor}.
 *
 * @param fold whether each task prunes its rows before the shuffle; see {@link LocalTopN} and
 *     {@link LocalTopOne}. Only for append-only input
 * @param skip number of first rows to skip
 * @param limit maximum number of rows after those
 * @param retracting whether the input may contain retractions
 * @param begins whether the first change of a row may be a retraction; it is then ignored
 * @param rowKey positions, or null; see {@link TopNSpec}
 * @param ranked whether the output ends with each row's rank, from 1
 * @param outputKey positions, or null; see {@link NetRows#changes}
 * @param before whether to emit update-before rows
 * @param ttl see {@link ExpiringState#of}
 */
public record TopNOperator(
    List<String> keys,
    boolean fold,
    List<SortColumn> order,
    int skip,
    int limit,
    boolean retracting,
    boolean begins,
    List<Integer> rowKey,
    boolean ranked,
    List<Integer> outputKey,
    boolean before,
    long ttl,
    String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    StructType row = input.drop(input.columns()[RowKind.POSITION]).schema();
    TopNSpec spec =
        new TopNSpec(
            row,
            RowOrder.by(order),
            skip,
            limit,
            retracting,
            begins,
            Keyed.positions(rowKey),
            ranked,
            Keyed.positions(outputKey),
            before,
            ttl);
    Dataset<Row> rows = fold ? firstRows(input, spec) : input;
    RowProcessor processor =
        spec.isOneAdded() ? new TopOneProcessor(spec) : new TopNProcessor(spec);
    return Keyed.stateful(rows, keys, processor, ttl > 0, outputDdl);
  }

  /** Returns the rows of each task that may be among the first rows of all tasks. */
  private Dataset<Row> firstRows(Dataset<Row> input, TopNSpec spec) {
    int[] partition = Keyed.at(input, keys);
    RowOrder rowOrder = spec.order().shifted(RowKind.POSITION + 1);
    return Keyed.folded(
        input,
        spec.end() == 1
            ? new LocalTopOne(partition, rowOrder)
            : new LocalTopN(partition, rowOrder, spec.end()),
        input.schema());
  }
}
