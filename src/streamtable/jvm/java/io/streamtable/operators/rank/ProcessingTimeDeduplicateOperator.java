package io.streamtable.operators.rank;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.state.ExpiringState;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Keeps the first or the last row of each partition in arrival order; see
 * {@link ProcessingTimeDeduplicateProcessor}.
 *
 * <p>The input ends with `positions` position columns.
 *
 * @param before whether to emit update-before rows
 * @param ttl see {@link ExpiringState#of}
 */
public record ProcessingTimeDeduplicateOperator(
    List<String> keys,
    boolean last,
    boolean before,
    int positions,
    long ttl,
    String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    int end = input.schema().length() - positions;
    StructType row = new StructType(Arrays.copyOf(input.schema().fields(), end));
    ProcessingTimeDeduplicateProcessor processor =
        new ProcessingTimeDeduplicateProcessor(
            row, Keyed.lastColumns(input, positions), last, before, ttl);
    return Keyed.stateful(input, keys, processor, ttl > 0, outputDdl);
  }
}
