package io.streamtable.operators;

import io.streamtable.operators.row.Plain;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.KeyValueGroupedDataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.StructType;

/**
 * State of another operator with which an operator starts.
 *
 * @param rows a row for each value and each map entry: the grouping columns, or one column for the
 *     group of all rows; the position of its variable in {@code variables}; then a key and a value
 *     for each variable. The key of a value is null, and so are the columns of other variables.
 * @param variables names of the state variables in the new operator
 */
public record RestoredState(Dataset<Row> rows, List<String> variables) {
  /** Column of a value, if it has none in the stored row. */
  public static final int EMPTY = -1;

  /**
   * Applies a processor that starts with the state.
   *
   * @param columns where each column of a value is in the stored row, or {@link #EMPTY}; null if
   *     the rows are equal
   * @param emitted whether the output is a batch DataFrame with an insert for each group, instead of
   *     the streaming operator
   */
  public Dataset<Row> under(
      Dataset<Row> input,
      List<String> keys,
      RowProcessor processor,
      int[] columns,
      boolean emitted,
      String outputDdl) {
    processor.keyedBy(keys);
    KeyValueGroupedDataset<Row, Row> groups = Keyed.grouped(input, keys);
    StructType keySchema = groups.keys().schema();
    KeyValueGroupedDataset<Row, Row> stored = by(keySchema);
    RestoringProcessor restoring =
        new RestoringProcessor(processor, variables, columns, keySchema.length(), emitted);
    StructType output = StructType.fromDDL(outputDdl);
    Encoder<Row> encoder = Plain.row(output);
    TimeMode untimed = TimeMode.None();
    OutputMode update = OutputMode.Update();
    Dataset<Row> changes =
        emitted
            ? stored.transformWithState(restoring, untimed, update, encoder)
            : groups.transformWithState(
                restoring, untimed, update, stored, encoder, Encoders.row(rows.schema()));
    return Plain.named(changes, output);
  }

  /** Groups the rows by columns with the names of the groups of the input. */
  private KeyValueGroupedDataset<Row, Row> by(StructType keys) {
    String[] names = rows.columns();
    System.arraycopy(keys.fieldNames(), 0, names, 0, keys.length());
    Dataset<Row> named = rows.toDF(names);
    Column[] columns = Arrays.stream(keys.fieldNames()).map(named::col).toArray(Column[]::new);
    return Keyed.grouped(named, columns, Encoders.row(named.schema()));
  }
}
