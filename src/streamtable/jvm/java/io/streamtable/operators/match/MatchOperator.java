package io.streamtable.operators.match;

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
 * Emits a row for each match of a pattern; see {@link MatchProcessor} and
 * {@link ProcessingTimeMatchProcessor}.
 *
 * <p>The input ends with the time in milliseconds and `positions` position columns. The output is
 * that of {@link MatchOutput}.
 *
 * @param eventTime whether rows wait for the watermark, in the order of event time
 * @param definitions what DEFINE says of each variable
 * @param values the values of a match that the output has
 * @param order order of rows with the same time, by columns without the row kind
 */
public record MatchOperator(
    List<String> keys,
    boolean eventTime,
    MatchPattern pattern,
    List<MatchDefinition> definitions,
    List<MatchValue> values,
    List<SortColumn> order,
    int positions,
    Lateness lateness,
    String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    StructType schema = input.schema();
    StructType row =
        new StructType(Arrays.copyOf(schema.fields(), schema.length() - positions - 1));
    List<MatchCondition> conditions =
        definitions.stream().map(each -> new MatchCondition(input.sparkSession(), each)).toList();
    MatchOutput output = new MatchOutput(Keyed.at(input, keys), values);
    MatchState matches = new MatchState(pattern, conditions, output, row);
    RowOrder peers = RowOrder.by(order).shifted(RowKind.POSITION + 1);
    RowOrder arrival = Keyed.lastColumns(input, positions);
    if (eventTime) {
      MatchProcessor processor = new MatchProcessor(row, matches, peers, arrival, lateness);
      return Keyed.waiting(input, keys, processor, outputDdl);
    }
    boolean limited = pattern.within() > 0;
    ProcessingTimeMatchProcessor processor =
        new ProcessingTimeMatchProcessor(
            row, matches, order.isEmpty() ? null : peers, arrival, limited);
    return Keyed.stateful(input, keys, processor, limited, outputDdl);
  }
}
