package io.streamtable.operators;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.StructType;

/** What operators share: processors behind groups of rows, and what the lists of Python become. */
final class Keyed {
  private Keyed() {}

  /** By so many columns at the end. */
  static RowOrder lastColumns(Dataset<Row> input, int count) {
    int length = input.schema().length();
    return RowOrder.ascending(IntStream.range(length - count, length).toArray());
  }

  static PairCondition pairCondition(
      Dataset<Row> input, String condition, StructType left, StructType right) {
    return condition == null
        ? null
        : PairCondition.of(input.sparkSession(), condition, left, right);
  }

  static boolean[] flags(List<Boolean> flags) {
    boolean[] found = new boolean[flags.size()];
    for (int i = 0; i < found.length; i++) {
      found[i] = flags.get(i);
    }
    return found;
  }

  static int[] positions(List<Integer> positions) {
    return positions == null ? null : positions.stream().mapToInt(i -> i).toArray();
  }

  /** A processor whose state may go by the clock, which Spark must then look at. */
  static Dataset<Row> stateful(
      Dataset<Row> input,
      List<String> keys,
      StatefulProcessor<Row, Row, Row> processor,
      boolean expires,
      String outputDdl) {
    TimeMode time = expires ? TimeMode.ProcessingTime() : TimeMode.None();
    return stateful(input, keys, processor, time, outputDdl);
  }

  /** A processor that waits for the watermark. */
  static Dataset<Row> waiting(
      Dataset<Row> input,
      List<String> keys,
      StatefulProcessor<Row, Row, Row> processor,
      String outputDdl) {
    return stateful(input, keys, processor, TimeMode.EventTime(), outputDdl);
  }

  static Dataset<Row> stateful(
      Dataset<Row> input,
      List<String> keys,
      StatefulProcessor<Row, Row, Row> processor,
      TimeMode time,
      String outputDdl) {
    StructType schema = input.schema();
    String[] names = Plain.names(schema.length());
    Dataset<Row> plain = input.toDF(names);
    Column[] columns =
        keys.isEmpty()
            ? new Column[] {functions.lit(0).as("everything")}
            : keys.stream()
                .map(key -> plain.col(names[schema.fieldIndex(key)]))
                .toArray(Column[]::new);
    StructType output = StructType.fromDDL(outputDdl);
    if (!input.isStreaming()) {
      return Rehearsal.stateful(plain, at(input, keys), processor, time, Plain.row(output))
          .toDF(output.fieldNames());
    }
    return plain
        .groupBy(columns)
        .as(Encoders.row(plain.select(columns).schema()), Encoders.row(plain.schema()))
        .transformWithState(
            processor, time, OutputMode.Update(), Plain.row(output))
        .toDF(output.fieldNames());
  }

  /**
   * The rows of a task that may be among the first ones of all tasks; see {@link LocalTopN} and
   * {@link LocalTopOne}.
   */
  static Dataset<Row> firstRows(Dataset<Row> input, List<String> keys, TopNSpec spec) {
    int[] partition = at(input, keys);
    RowOrder order = spec.order().shifted(RowKind.POSITION + 1);
    return input.mapPartitions(
        spec.end() == 1
            ? new LocalTopOne(partition, order)
            : new LocalTopN(partition, order, spec.end()),
        Encoders.row(input.schema()));
  }

  /** The rows of a task, summed up group by group; see {@link LocalAggregate}. */
  static Dataset<Row> folded(
      Dataset<Row> input,
      List<String> keys,
      List<Aggregation> calls,
      List<Accumulator> accumulators,
      PartialRows partials) {
    StructType raw = input.schema();
    int[] keyPositions = at(input, keys);
    return input.mapPartitions(
        new LocalAggregate(calls, accumulators, keyPositions, partials),
        Encoders.row(partials.schema(raw, keyPositions)));
  }

  private static int[] at(Dataset<Row> input, List<String> columns) {
    return columns.stream().mapToInt(input.schema()::fieldIndex).toArray();
  }
}
