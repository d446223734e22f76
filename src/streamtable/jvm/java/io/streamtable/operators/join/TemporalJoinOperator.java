package io.streamtable.operators.join;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.state.IdleTime;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Joins left rows with the version of the right row at their event time; see
 * {@link TemporalJoinProcessor}.
 *
 * <p>Input rows are (row kind, keys..., left STRUCT, right STRUCT, event time, position).
 *
 * @param condition condition of pairs in addition to equal keys, as Spark SQL; null for none
 * @param ttl see {@link IdleTime}
 */
public record TemporalJoinOperator(boolean outer, String condition, long ttl, String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    StructType schema = input.schema();
    int leftAt = schema.length() - 4;
    StructType left = (StructType) schema.fields()[leftAt].dataType();
    StructType right = (StructType) schema.fields()[leftAt + 1].dataType();
    PairCondition pairs = PairCondition.of(input, condition, left, right);
    List<String> keys = List.of(schema.fieldNames()).subList(1, leftAt);
    TemporalJoinProcessor processor =
        new TemporalJoinProcessor(left, right, leftAt, outer, pairs, ttl);
    return Keyed.waiting(input, keys, processor, outputDdl);
  }
}
