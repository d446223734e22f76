package io.streamtable.operators.window;

import io.streamtable.functions.WindowZone;
import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.state.Lateness;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Emits each row with its session; for input and parameters see {@link SessionAggregateOperator}.
 */
public record SessionRowsOperator(List<String> keys, String zone, Lateness lateness, String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    SessionProcessor processor =
        new SessionProcessor(
            input.schema(), new SessionOutput.Rows(), WindowZone.of(zone), lateness);
    return Keyed.waiting(input, keys, processor, outputDdl);
  }
}
