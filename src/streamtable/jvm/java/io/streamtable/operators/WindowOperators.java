package io.streamtable.operators;

import io.streamtable.codec.Counters;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/** Puts processors that wait for the watermark between DataFrames; Python calls it. */
public final class WindowOperators {
  private WindowOperators() {}

  /**
   * One row per window and group, when the watermark passes; see {@link WindowAggregateProcessor}.
   *
   * @param keys grouping columns, of which the last is the window's last millisecond
   * @param fold whether rows are summed up before the shuffle; see {@link LocalAggregate}
   * @param order positions of columns that tell the order of rows, for aggregates that go by it
   * @param checked see {@link Lateness}
   */
  public static Dataset<Row> windowAggregate(
      Dataset<Row> input,
      List<String> keys,
      List<Aggregation> calls,
      boolean retracting,
      boolean bitmaps,
      boolean fold,
      List<Integer> order,
      boolean checked,
      Counters counters,
      String outputDdl) {
    List<Aggregation> own = new ArrayList<>(calls);
    List<Accumulator> accumulators = new ArrayList<>();
    for (Aggregation call : own) {
      accumulators.add(call.accumulator(retracting, bitmaps));
    }
    boolean ordered = accumulators.stream().anyMatch(Accumulator::ordered);
    boolean folds = fold && !ordered;
    PartialRows partials = folds ? new PartialRows(keys.size(), accumulators) : null;
    Dataset<Row> rows = folds ? Keyed.folded(input, keys, own, accumulators, partials) : input;
    RowOrder asCame = ordered ? RowOrder.ascending(Keyed.positions(order)) : null;
    return Keyed.waiting(
        rows,
        keys,
        new WindowAggregateProcessor(
            own,
            accumulators,
            keys.size() - 1,
            partials,
            asCame,
            new Lateness(checked, counters)),
        outputDdl);
  }

  /**
   * One row per session and group, when the watermark passes; see {@link
   * SessionProcessor}.
   *
   * @param input ends in the start and the end of each row's own session, in milliseconds
   * @param zone whose clock these are of
   * @param checked see {@link Lateness}
   */
  public static Dataset<Row> sessionAggregate(
      Dataset<Row> input,
      List<String> keys,
      List<Aggregation> calls,
      String zone,
      boolean checked,
      Counters counters,
      String outputDdl) {
    SessionOutput results =
        new SessionOutput.Aggregates(new ArrayList<>(calls), keys.size());
    return sessions(input, keys, results, zone, new Lateness(checked, counters), outputDdl);
  }

  /** Each row with its session; parameters as those of {@link #sessionAggregate}. */
  public static Dataset<Row> sessionRows(
      Dataset<Row> input,
      List<String> keys,
      String zone,
      boolean checked,
      Counters counters,
      String outputDdl) {
    return sessions(
        input, keys, new SessionOutput.Rows(), zone, new Lateness(checked, counters), outputDdl);
  }

  private static Dataset<Row> sessions(
      Dataset<Row> input,
      List<String> keys,
      SessionOutput results,
      String zone,
      Lateness lateness,
      String outputDdl) {
    return Keyed.waiting(
        input,
        keys,
        new SessionProcessor(input.schema(), results, ZoneId.of(zone), lateness),
        outputDdl);
  }

  /**
   * The first rows of each partition of a window, when the watermark passes; see {@link
   * WindowTopNProcessor}.
   *
   * @param input ends in the window's last millisecond
   * @param order positions of the columns that rows are ordered by, without the row kind
   * @param checked see {@link Lateness}
   */
  public static Dataset<Row> windowTopN(
      Dataset<Row> input,
      List<String> keys,
      List<Integer> order,
      List<Boolean> descending,
      List<Boolean> nullsFirst,
      int skip,
      int limit,
      boolean ranked,
      boolean checked,
      Counters counters,
      String outputDdl) {
    String[] names = input.columns();
    StructType row =
        input.drop(names[RowKind.POSITION]).drop(names[names.length - 1]).schema();
    TopNSpec spec =
        new TopNSpec(
            row,
            new RowOrder(Keyed.positions(order), Keyed.flags(descending), Keyed.flags(nullsFirst)),
            skip,
            limit,
            false,
            ranked,
            null,
            false,
            0);
    return Keyed.waiting(
        input, keys, new WindowTopNProcessor(spec, new Lateness(checked, counters)), outputDdl);
  }

  /**
   * Left rows with the version of the right row at their moment; see {@link
   * TemporalJoinProcessor}.
   *
   * @param input rows of (row kind, keys..., left STRUCT, right STRUCT, moment, position)
   * @param condition what pairs must fulfil beside equal keys, as Spark SQL; null for nothing
   * @param ttl see {@link IdleTime}
   */
  public static Dataset<Row> temporalJoin(
      Dataset<Row> input, boolean outer, String condition, long ttl, String outputDdl) {
    StructType schema = input.schema();
    int leftAt = schema.length() - 4;
    StructType left = (StructType) schema.fields()[leftAt].dataType();
    StructType right = (StructType) schema.fields()[leftAt + 1].dataType();
    return Keyed.waiting(
        input,
        List.of(schema.fieldNames()).subList(1, leftAt),
        new TemporalJoinProcessor(
            left,
            right,
            leftAt,
            outer,
            Keyed.pairCondition(input, condition, left, right),
            ttl),
        outputDdl);
  }

  /**
   * Two inputs joined where their moments are near; see {@link IntervalJoinProcessor}.
   *
   * @param input rows of (row kind, keys..., left STRUCT, right STRUCT, moment)
   * @param kind a {@link JoinKind}
   */
  public static Dataset<Row> intervalJoin(
      Dataset<Row> input, String kind, long from, long to, String condition, String outputDdl) {
    StructType schema = input.schema();
    int leftAt = schema.length() - 3;
    StructType left = (StructType) schema.fields()[leftAt].dataType();
    StructType right = (StructType) schema.fields()[leftAt + 1].dataType();
    return Keyed.waiting(
        input,
        List.of(schema.fieldNames()).subList(1, leftAt),
        new IntervalJoinProcessor(
            new IntervalJoinProcessor.Spec(
                left,
                right,
                leftAt,
                JoinKind.valueOf(kind),
                from,
                to,
                Keyed.pairCondition(input, condition, left, right))),
        outputDdl);
  }

  /**
   * Two inputs joined window by window; see {@link WindowJoinProcessor}.
   *
   * @param input rows of (row kind, keys..., left STRUCT, right STRUCT, the window's last
   *     millisecond)
   * @param kind a {@link JoinKind}
   * @param checked see {@link Lateness}; of the left input, then of the right
   */
  public static Dataset<Row> windowJoin(
      Dataset<Row> input,
      String kind,
      String condition,
      List<Boolean> checked,
      List<Counters> counters,
      String outputDdl) {
    StructType schema = input.schema();
    int leftAt = schema.length() - 3;
    StructType left = (StructType) schema.fields()[leftAt].dataType();
    StructType right = (StructType) schema.fields()[leftAt + 1].dataType();
    List<String> names = List.of(schema.fieldNames());
    List<String> keys = new ArrayList<>(names.subList(1, leftAt));
    keys.add(names.get(leftAt + 2));
    return Keyed.waiting(
        input,
        keys,
        new WindowJoinProcessor(
            new WindowJoinProcessor.Spec(
                left,
                right,
                leftAt,
                JoinKind.valueOf(kind),
                Keyed.pairCondition(input, condition, left, right),
                new Lateness(checked.get(0), counters.get(0)),
                new Lateness(checked.get(1), counters.get(1)))),
        outputDdl);
  }
}
