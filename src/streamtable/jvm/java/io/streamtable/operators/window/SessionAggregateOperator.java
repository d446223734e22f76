package io.streamtable.operators.window;

import io.streamtable.functions.WindowZone;
import io.streamtable.operators.Keyed;
import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.aggregate.Aggregation;
import io.streamtable.operators.state.Lateness;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Emits one row per session and group when the watermark passes; see {@link SessionProcessor}.
 *
 * <p>The input ends with the start and end of each row's own session, in milliseconds.
 *
 * @param zone time zone of these milliseconds
 */
public record SessionAggregateOperator(
    List<String> keys, List<Aggregation> calls, String zone, Lateness lateness, String outputDdl)
    implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    SessionOutput results = new SessionOutput.Aggregates(calls, keys.size());
    SessionProcessor processor =
        new SessionProcessor(input.schema(), results, WindowZone.of(zone), lateness);
    return Keyed.waiting(input, keys, processor, outputDdl);
  }
}
