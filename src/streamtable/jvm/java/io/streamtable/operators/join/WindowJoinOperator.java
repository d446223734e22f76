package io.streamtable.operators.join;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.state.Lateness;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Joins two inputs window by window; see {@link WindowJoinProcessor}.
 *
 * <p>Input rows are (row kind, keys..., left STRUCT, right STRUCT, the window's last millisecond).
 *
 * @param left defines which left rows are late
 * @param right defines which right rows are late
 */
public record WindowJoinOperator(
    JoinKind kind, String condition, Lateness left, Lateness right, String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    StructType schema = input.schema();
    int leftAt = schema.length() - 3;
    StructType leftRow = (StructType) schema.fields()[leftAt].dataType();
    StructType rightRow = (StructType) schema.fields()[leftAt + 1].dataType();
    List<String> names = List.of(schema.fieldNames());
    List<String> keys = new ArrayList<>(names.subList(1, leftAt));
    keys.add(names.get(leftAt + 2));
    PairCondition pairs = PairCondition.of(input, condition, leftRow, rightRow);
    WindowJoinProcessor.Spec spec =
        new WindowJoinProcessor.Spec(leftRow, rightRow, leftAt, kind, pairs, left, right);
    return Keyed.waiting(input, keys, new WindowJoinProcessor(spec), outputDdl);
  }
}
