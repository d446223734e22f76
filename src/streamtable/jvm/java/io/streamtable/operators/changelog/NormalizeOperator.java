package io.streamtable.operators.changelog;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.RestoredState;
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
 * @param restored state with which the operator starts; null if it has none
 */
public record NormalizeOperator(
    List<String> keys,
    String rowDdl,
    boolean before,
    boolean positions,
    long ttl,
    String outputDdl,
    RestoredState restored)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    NormalizeProcessor processor = new NormalizeProcessor(rowDdl, before, positions, ttl);
    return restored == null
        ? Keyed.stateful(input, keys, processor, ttl > 0, outputDdl)
        : restored.under(input, keys, processor, null, false, outputDdl);
  }
}
