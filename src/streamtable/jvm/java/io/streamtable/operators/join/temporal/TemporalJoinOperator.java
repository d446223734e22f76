package io.streamtable.operators.join.temporal;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.join.PairCondition;
import io.streamtable.operators.row.InexactRetractions;
import io.streamtable.operators.row.NetRows;
import io.streamtable.operators.state.IdleTime;
import io.streamtable.operators.state.Lateness;
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
 * @param ttl see {@link IdleTime} and {@link EmittedRows}
 * @param left defines which left rows are late
 * @param updates whether left rows are a full changelog; the parameters behind it are for them
 * @param begins whether the first change of a left row may be a retraction
 * @param rowKey positions in the left row, or null; see {@link InexactRetractions}
 * @param outputKey positions, or null; see {@link NetRows#changes}
 */
public record TemporalJoinOperator(
    boolean outer,
    String condition,
    long ttl,
    Lateness left,
    boolean updates,
    boolean begins,
    List<Integer> rowKey,
    List<Integer> outputKey,
    boolean before,
    String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    StructType schema = input.schema();
    int leftAt = schema.length() - 4;
    StructType leftRow = (StructType) schema.fields()[leftAt].dataType();
    StructType rightRow = (StructType) schema.fields()[leftAt + 1].dataType();
    PairCondition pairs = PairCondition.of(input, condition, leftRow, rightRow);
    VersionedPair pair = new VersionedPair(leftRow.length(), rightRow.length(), outer, pairs);
    int[] key = Keyed.positions(rowKey);
    int[] pairedBy = Keyed.positions(outputKey);
    TemporalLeft rows =
        updates
            ? new ChangingLeft(leftRow, rightRow, pair, begins, key, pairedBy, before, ttl)
            : new AppendedLeft(leftRow, pair);
    TemporalJoinProcessor processor =
        new TemporalJoinProcessor(rows, left, new Versions(rightRow), pair, leftAt, ttl);
    List<String> keys = List.of(schema.fieldNames()).subList(1, leftAt);
    return Keyed.waiting(input, keys, processor, outputDdl);
  }
}
