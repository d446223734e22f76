package io.streamtable.operators.join;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.join.side.StoredSide;
import io.streamtable.operators.row.NetRows;
import io.streamtable.operators.state.ExpiringState;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Joins two inputs; see {@link JoinProcessor}.
 *
 * <p>Input rows are (row kind, key columns..., left STRUCT `__left`, right STRUCT), where one
 * STRUCT is null; then Kafka's partition and offset if an input contains upserts or the output has
 * positions.
 *
 * @param condition condition of pairs in addition to equal keys, as Spark SQL; null for none
 * @param leftKey positions, or null; see {@link StoredSide#of}
 * @param leftUnique positions, or null; see {@link JoinSpec}
 * @param leftAppends see {@link StoredSide#of}
 * @param leftUpserts whether left rows are upserts and deletes by that key
 * @param leftBegins whether the first change of a left row may be a retraction; it is then ignored
 * @param paired see {@link JoinSpec}
 * @param outputKey positions, or null; see {@link NetRows#changes}
 * @param leftTtl see {@link ExpiringState#of}
 * @param positions whether output rows end with the position of an input row
 * @param leftWindows whether left rows are results of windows
 */
public record JoinOperator(
    JoinKind kind,
    String condition,
    List<Integer> leftKey,
    List<Integer> leftUnique,
    boolean leftAppends,
    boolean leftUpserts,
    boolean leftBegins,
    List<Integer> rightKey,
    List<Integer> rightUnique,
    boolean rightAppends,
    boolean rightUpserts,
    boolean rightBegins,
    boolean paired,
    List<Integer> outputKey,
    boolean before,
    long leftTtl,
    long rightTtl,
    boolean positions,
    boolean leftWindows,
    boolean rightWindows,
    String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    StructType schema = input.schema();
    int leftAt = schema.fieldIndex("__left");
    StructType left = (StructType) schema.fields()[leftAt].dataType();
    StructType right = (StructType) schema.fields()[leftAt + 1].dataType();
    JoinSpec spec =
        new JoinSpec(
            kind,
            leftAt,
            left,
            Keyed.positions(leftKey),
            Keyed.positions(leftUnique),
            leftAppends,
            leftUpserts,
            leftBegins,
            right,
            Keyed.positions(rightKey),
            Keyed.positions(rightUnique),
            rightAppends,
            rightUpserts,
            rightBegins,
            paired,
            PairCondition.of(input, condition, left, right),
            Keyed.positions(outputKey),
            before,
            leftTtl,
            rightTtl,
            positions,
            leftWindows,
            rightWindows);
    List<String> keys = List.of(schema.fieldNames()).subList(1, leftAt);
    return Keyed.stateful(input, keys, new JoinProcessor(spec), spec.expires(), outputDdl);
  }
}
