package io.streamtable.operators.join;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.state.Lateness;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Joins two inputs whose event times are within an interval; see {@link IntervalJoinProcessor}.
 *
 * <p>Input rows are (row kind, keys..., left STRUCT, right STRUCT, event time).
 *
 * @param earliest the least difference of left event time and right event time, in milliseconds
 * @param latest the greatest difference, in milliseconds
 * @param left defines which left rows are late
 * @param right defines which right rows are late
 */
public record IntervalJoinOperator(
    JoinKind kind,
    long earliest,
    long latest,
    String condition,
    Lateness left,
    Lateness right,
    String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    StructType schema = input.schema();
    int leftAt = schema.length() - 3;
    StructType leftRow = (StructType) schema.fields()[leftAt].dataType();
    StructType rightRow = (StructType) schema.fields()[leftAt + 1].dataType();
    PairCondition pairs = PairCondition.of(input, condition, leftRow, rightRow);
    IntervalJoinProcessor.Spec spec =
        new IntervalJoinProcessor.Spec(
            leftRow, rightRow, leftAt, kind, earliest, latest, pairs, left, right);
    List<String> keys = List.of(schema.fieldNames()).subList(1, leftAt);
    return Keyed.waiting(input, keys, new IntervalJoinProcessor(spec), outputDdl);
  }
}
