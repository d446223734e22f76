package io.streamtable.operators.changelog;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.RowOrder;
import java.util.List;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Sorts the rows of each task of a micro-batch in memory. Spark itself does not sort streams.
 *
 * @param order positions of the columns to sort by, ascending
 */
public record BatchSortOperator(List<Integer> order) implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    RowOrder ascending = RowOrder.ascending(Keyed.positions(order));
    return DirectEncoder.rows(input)
        .mapPartitions(
            (MapPartitionsFunction<Row, Row>) ascending::sorted,
            DirectEncoder.row(input.schema()));
  }
}
