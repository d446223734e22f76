package io.streamtable.operators.join;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
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
 */
public record IntervalJoinOperator(
    JoinKind kind, long earliest, long latest, String condition, String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    StructType schema = input.schema();
    int leftAt = schema.length() - 3;
    StructType left = (StructType) schema.fields()[leftAt].dataType();
    StructType right = (StructType) schema.fields()[leftAt + 1].dataType();
    PairCondition pairs = PairCondition.of(input, condition, left, right);
    IntervalJoinProcessor.Spec spec =
        new IntervalJoinProcessor.Spec(left, right, leftAt, kind, earliest, latest, pairs);
    List<String> keys = List.of(schema.fieldNames()).subList(1, leftAt);
    return Keyed.waiting(input, keys, new IntervalJoinProcessor(spec), outputDdl);
  }
}
