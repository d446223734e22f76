package io.streamtable.operators;

import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.fanout.Recording;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowOrder;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.KeyValueGroupedDataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.StructType;

/**
 * Functions that operators share: they apply stateful processors to grouped rows, and convert lists
 * from Python.
 */
public final class Keyed {
  private static volatile BatchExecution batches =
      (input, keys, processor, time, output) -> {
        throw new IllegalStateException("an operator with state needs a streaming DataFrame");
      };

  private Keyed() {}

  /** Sets the execution that runs processors over batch DataFrames from now on; for tests. */
  public static void runBatches(BatchExecution execution) {
    batches = execution;
  }

  /** Returns the order by the last columns of the input. */
  public static RowOrder lastColumns(Dataset<Row> input, int count) {
    int length = input.schema().length();
    return RowOrder.ascending(IntStream.range(length - count, length).toArray());
  }

  public static int[] positions(List<Integer> positions) {
    return positions == null ? null : positions.stream().mapToInt(i -> i).toArray();
  }

  /** Applies a processor whose state may expire by processing time, which Spark must check. */
  public static Dataset<Row> stateful(
      Dataset<Row> input,
      List<String> keys,
      RowProcessor processor,
      boolean expires,
      String outputDdl) {
    TimeMode time = expires ? TimeMode.ProcessingTime() : TimeMode.None();
    return stateful(input, keys, processor, time, outputDdl);
  }

  /** Applies a processor that waits for the watermark. */
  public static Dataset<Row> waiting(
      Dataset<Row> input,
      List<String> keys,
      RowProcessor processor,
      String outputDdl) {
    return stateful(input, keys, processor, TimeMode.EventTime(), outputDdl);
  }

  public static Dataset<Row> stateful(
      Dataset<Row> input,
      List<String> keys,
      RowProcessor processor,
      TimeMode time,
      String outputDdl) {
    processor.keyedBy(keys);
    StructType output = StructType.fromDDL(outputDdl);
    if (!input.isStreaming()) {
      Dataset<Row> plain = plain(input);
      Recording recording = Recording.of(input);
      if (recording != null) {
        Column[] columns = columns(input, plain, keys);
        return Plain.named(recording.stateful(plain, columns, processor, time, output), output);
      }
      return Plain.named(
          batches.run(plain, at(input, keys), processor, time, Plain.row(output)), output);
    }
    return Plain.named(
        grouped(input, keys)
            .transformWithState(processor, time, OutputMode.Update(), Plain.row(output)),
        output);
  }

  /** Reduces the rows of each task before a shuffle. */
  public static Dataset<Row> folded(Dataset<Row> input, LocalFold fold, StructType output) {
    Recording recording = input.isStreaming() ? null : Recording.of(input);
    return recording == null
        ? DirectEncoder.rows(input).mapPartitions(fold, DirectEncoder.row(output))
        : recording.folded(input, fold, output);
  }

  /** Groups rows by columns. The groups have the names that state has. */
  public static KeyValueGroupedDataset<Row, Row> grouped(Dataset<Row> input, List<String> keys) {
    Dataset<Row> plain = plain(input);
    return grouped(plain, columns(input, plain, keys), DirectEncoder.row(plain.schema()));
  }

  /** Groups rows by the bytes of columns, as state does. */
  static KeyValueGroupedDataset<Row, Row> grouped(
      Dataset<Row> rows, Column[] columns, Encoder<Row> encoder) {
    StructType key = rows.select(columns).schema();
    return rows.groupBy(KeyBits.of(columns, key)).as(DirectEncoder.row(key), encoder);
  }

  private static Column[] columns(Dataset<Row> input, Dataset<Row> plain, List<String> keys) {
    return keys.isEmpty()
        ? new Column[] {functions.lit(0).as("everything")}
        : keys.stream()
            .map(key -> Plain.column(plain, input.schema().fieldIndex(key)))
            .toArray(Column[]::new);
  }

  private static Dataset<Row> plain(Dataset<Row> input) {
    return input.toDF(Plain.names(input.schema().length()));
  }

  /** Returns the positions of columns in the rows of a DataFrame. */
  public static int[] at(Dataset<Row> input, List<String> columns) {
    return columns.stream().mapToInt(input.schema()::fieldIndex).toArray();
  }
}
