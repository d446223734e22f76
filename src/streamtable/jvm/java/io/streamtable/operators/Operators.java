package io.streamtable.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.types.StructType;

/** Puts processors of changelogs between DataFrames; Python calls it and its two siblings. */
public final class Operators {
  private Operators() {}

  /**
   * One change per group and batch; see {@link GroupAggregateProcessor}.
   *
   * @param retracting whether input rows can be taken back
   * @param before whether an update comes with the row it replaces
   * @param bitmaps whether distinct integers may be kept as bitmaps
   * @param fold whether rows are summed up before the shuffle, where their order does not matter;
   *     see {@link LocalAggregate}
   * @param order positions of columns that tell the order of rows, for aggregates that go by it
   * @param ttl see {@link ExpiringState#of}; rows that may be taken back are then not summed up
   *     before the shuffle
   */
  public static Dataset<Row> groupAggregate(
      Dataset<Row> input,
      List<String> keys,
      List<Aggregation> calls,
      boolean retracting,
      boolean before,
      boolean bitmaps,
      boolean fold,
      List<Integer> order,
      long ttl,
      String outputDdl) {
    // Copies: what Python hands over is a view of its own that does not travel to a task.
    List<Aggregation> own = new ArrayList<>(calls);
    List<Accumulator> accumulators = new ArrayList<>();
    for (Aggregation call : own) {
      accumulators.add(call.accumulator(retracting, bitmaps));
    }
    boolean ordered = accumulators.stream().anyMatch(Accumulator::ordered);
    boolean folds = fold && !ordered && !(ttl > 0 && retracting);
    PartialRows partials = folds ? new PartialRows(keys.size(), accumulators) : null;
    Dataset<Row> rows = folds ? Keyed.folded(input, keys, own, accumulators, partials) : input;
    RowOrder asCame = ordered ? RowOrder.ascending(Keyed.positions(order)) : null;
    return Keyed.stateful(
        rows,
        keys,
        new GroupAggregateProcessor(own, accumulators, keys.size(), before, partials, asCame, ttl),
        ttl > 0,
        outputDdl);
  }

  /** A full changelog out of upserts; see {@link NormalizeProcessor}. */
  public static Dataset<Row> normalize(
      Dataset<Row> input,
      List<String> keys,
      String rowDdl,
      boolean before,
      boolean positions,
      long ttl,
      String outputDdl) {
    return Keyed.stateful(
        input, keys, new NormalizeProcessor(rowDdl, before, positions, ttl), ttl > 0, outputDdl);
  }

  /**
   * Two inputs joined; see {@link JoinProcessor}.
   *
   * @param input rows of (row kind, key columns..., left STRUCT `__left`, right STRUCT), one of
   *     them null; then Kafka's partition and offset where an input gives upserts
   * @param kind a {@link JoinKind}
   * @param condition what pairs must fulfil beside equal keys, as Spark SQL; null for nothing
   * @param leftKey positions, or null; see {@link JoinSide#of}
   * @param leftUpserts whether left rows are upserts and deletes by that key
   * @param outputKey positions, or null; see {@link NetRows#changes}
   * @param leftTtl see {@link ExpiringState#of}
   */
  public static Dataset<Row> join(
      Dataset<Row> input,
      String kind,
      String condition,
      List<Integer> leftKey,
      boolean leftUpserts,
      List<Integer> rightKey,
      boolean rightUpserts,
      List<Integer> outputKey,
      boolean before,
      long leftTtl,
      long rightTtl,
      String outputDdl) {
    StructType schema = input.schema();
    int leftAt = schema.fieldIndex("__left");
    StructType left = (StructType) schema.fields()[leftAt].dataType();
    StructType right = (StructType) schema.fields()[leftAt + 1].dataType();
    JoinSpec spec =
        new JoinSpec(
            JoinKind.valueOf(kind),
            leftAt,
            left,
            Keyed.positions(leftKey),
            leftUpserts,
            right,
            Keyed.positions(rightKey),
            rightUpserts,
            Keyed.pairCondition(input, condition, left, right),
            Keyed.positions(outputKey),
            before,
            leftTtl,
            rightTtl);
    List<String> keys = List.of(schema.fieldNames()).subList(1, leftAt);
    return Keyed.stateful(input, keys, new JoinProcessor(spec), spec.expires(), outputDdl);
  }

  /** The one row of each key; see {@link MaterializeProcessor}. */
  public static Dataset<Row> materialize(
      Dataset<Row> input,
      List<String> keys,
      String rowDdl,
      List<Integer> order,
      long ttl,
      String outputDdl) {
    RowOrder asCame = RowOrder.ascending(Keyed.positions(order));
    return Keyed.stateful(
        input, keys, new MaterializeProcessor(rowDdl, asCame, ttl), ttl > 0, outputDdl);
  }

  /**
   * The first rows of each partition; see {@link TopNProcessor} and {@link TopOneProcessor}.
   *
   * @param fold whether a task leaves out what others of its rows come before; see {@link
   *     LocalTopN} and {@link LocalTopOne}. Only of rows that are only added
   * @param order positions of the columns that rows are ordered by, without the row kind
   * @param outputKey positions, or null; see {@link NetRows#changes}
   */
  public static Dataset<Row> topN(
      Dataset<Row> input,
      List<String> keys,
      boolean fold,
      List<Integer> order,
      List<Boolean> descending,
      List<Boolean> nullsFirst,
      int skip,
      int limit,
      boolean retracting,
      boolean ranked,
      List<Integer> outputKey,
      boolean before,
      long ttl,
      String outputDdl) {
    StructType row = input.drop(input.columns()[RowKind.POSITION]).schema();
    TopNSpec spec =
        new TopNSpec(
            row,
            new RowOrder(Keyed.positions(order), Keyed.flags(descending), Keyed.flags(nullsFirst)),
            skip,
            limit,
            retracting,
            ranked,
            Keyed.positions(outputKey),
            before,
            ttl);
    Dataset<Row> rows = fold ? Keyed.firstRows(input, keys, spec) : input;
    StatefulProcessor<Row, Row, Row> processor =
        spec.isOneAdded() ? new TopOneProcessor(spec) : new TopNProcessor(spec);
    return Keyed.stateful(rows, keys, processor, ttl > 0, outputDdl);
  }

  /** A filter that judges updates as a whole; see {@link PairedFilter}. */
  public static Dataset<Row> pairedFilter(Dataset<Row> input, boolean before, String outputDdl) {
    return input.mapPartitions(
        new PairedFilter(before), Encoders.row(StructType.fromDDL(outputDdl)));
  }
}
