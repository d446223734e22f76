package io.streamtable.operators.changelog;

import io.streamtable.operators.OperatorSpec;
import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.fanout.Recording;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * A filter that evaluates both rows of an update together; see {@link PairedFilter}.
 *
 * @param before whether to emit update-before rows
 */
public record PairedFilterOperator(boolean before, String outputDdl) implements OperatorSpec {
  @Override
  public Dataset<Row> over(Dataset<Row> input) {
    StructType output = StructType.fromDDL(outputDdl);
    Recording recording = input.isStreaming() ? null : Recording.of(input);
    return recording == null
        ? DirectEncoder.rows(input)
            .mapPartitions(new PairedFilter(before), DirectEncoder.row(output))
        : recording.paired(input, before, output);
  }
}
