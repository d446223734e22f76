package io.streamtable.operators.changelog;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.state.ExpiringState;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Converts upserts into a full changelog; see {@link NormalizeProcessor}.
 *
 * @param before whether to emit update-before rows
 * @param positions whether the output also ends with Kafka's partition and offset
 * @param ttl see {@link ExpiringState#of}
 */
public record NormalizeOperator(
    List<String> keys,
    String rowDdl,
    boolean before,
    boolean positions,
    long ttl,
    String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    return Keyed.stateful(
        input, keys, new NormalizeProcessor(rowDdl, before, positions, ttl), ttl > 0, outputDdl);
  }
}
