package io.streamtable.operators;

import io.streamtable.codec.Counters;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructType;

/** Puts processors between DataFrames; the only class of this package that Python calls. */
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
    Dataset<Row> rows = folds ? folded(input, keys, own, accumulators, partials) : input;
    RowOrder asCame = ordered ? RowOrder.ascending(positions(order)) : null;
    return stateful(
        rows,
        keys,
        new GroupAggregateProcessor(own, accumulators, keys.size(), before, partials, asCame, ttl),
        ttl > 0,
        outputDdl);
  }

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
    Dataset<Row> rows = folds ? folded(input, keys, own, accumulators, partials) : input;
    RowOrder asCame = ordered ? RowOrder.ascending(positions(order)) : null;
    return waiting(
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
    return waiting(
        input,
        keys,
        new SessionProcessor(input.schema(), results, ZoneId.of(zone), lateness),
        outputDdl);
  }

  /**
   * Rows with aggregates over those before them, when the watermark passes; see {@link
   * OverProcessor}.
   *
   * @param input ends in each row's moment in milliseconds, and in what `positions` counts
   * @param peers whether the frame is RANGE
   * @param preceding how many rows, or milliseconds, the frame holds beside the current ones; below
   *     0 for all
   * @param positions how many columns at the end tell the order in which rows of a moment came
   * @param checked see {@link Lateness}
   */
  public static Dataset<Row> overAggregate(
      Dataset<Row> input,
      List<String> keys,
      List<Aggregation> calls,
      boolean peers,
      long preceding,
      boolean bitmaps,
      int positions,
      boolean checked,
      Counters counters,
      String outputDdl) {
    StructType schema = input.schema();
    int momentAt = schema.length() - positions - 1;
    OverFrame frame = frame(calls, peers, preceding, bitmaps);
    StructType row = new StructType(Arrays.copyOf(schema.fields(), momentAt));
    RowOrder asCame = lastColumns(input, positions + 1);
    Lateness lateness = new Lateness(checked, counters);
    return waiting(input, keys, new OverProcessor(row, frame, asCame, lateness), outputDdl);
  }

  private static OverFrame frame(
      List<Aggregation> calls, boolean peers, long preceding, boolean bitmaps) {
    List<Aggregation> own = new ArrayList<>(calls);
    if (preceding >= 0) {
      return new SlidingFrame(own, peers, preceding);
    }
    List<Accumulator> accumulators = new ArrayList<>();
    for (Aggregation call : own) {
      accumulators.add(call.accumulator(false, bitmaps));
    }
    return new UnboundedFrame(new AggregateState(own, accumulators, null, null, false), peers);
  }

  /**
   * Each row at once with aggregates over those that came before it; see {@link
   * ArrivalOverProcessor}.
   *
   * @param input ends in what `positions` counts
   * @param preceding how many rows, or microseconds, the frame holds; below 0 for all
   * @param time the column that a frame of time goes by, in microseconds; null for no such frame
   * @param ttl see {@link ExpiringState#of}
   */
  public static Dataset<Row> arrivalOver(
      Dataset<Row> input,
      List<String> keys,
      List<Aggregation> calls,
      long preceding,
      String time,
      boolean bitmaps,
      int positions,
      long ttl,
      String outputDdl) {
    int timeAt = time == null ? -1 : input.schema().fieldIndex(time);
    int end = input.schema().length() - positions - (time == null ? 0 : 1);
    OverFrame frame = frame(calls, time != null, preceding, bitmaps);
    StructType row = new StructType(Arrays.copyOf(input.schema().fields(), end));
    ArrivalOverProcessor processor =
        new ArrivalOverProcessor(row, frame, lastColumns(input, positions), timeAt, ttl);
    return stateful(input, keys, processor, ttl > 0, outputDdl);
  }

  /**
   * The first or the last row of each partition to come; see {@link ArrivalDeduplicateProcessor}.
   *
   * @param input ends in what `positions` counts
   * @param ttl see {@link ExpiringState#of}
   */
  public static Dataset<Row> arrivalDeduplicate(
      Dataset<Row> input,
      List<String> keys,
      boolean last,
      boolean before,
      int positions,
      long ttl,
      String outputDdl) {
    int end = input.schema().length() - positions;
    StructType row = new StructType(Arrays.copyOf(input.schema().fields(), end));
    ArrivalDeduplicateProcessor processor =
        new ArrivalDeduplicateProcessor(row, lastColumns(input, positions), last, before, ttl);
    return stateful(input, keys, processor, ttl > 0, outputDdl);
  }

  /** By so many columns at the end. */
  private static RowOrder lastColumns(Dataset<Row> input, int count) {
    int length = input.schema().length();
    return RowOrder.ascending(IntStream.range(length - count, length).toArray());
  }

  /**
   * The first row of each partition, when the watermark passes; see {@link FirstRowProcessor}.
   *
   * @param input ends in each row's moment in milliseconds, and in what `positions` counts
   * @param checked see {@link Lateness}
   */
  public static Dataset<Row> firstRow(
      Dataset<Row> input,
      List<String> keys,
      int positions,
      boolean checked,
      Counters counters,
      String outputDdl) {
    StructType schema = input.schema();
    int momentAt = schema.length() - positions - 1;
    RowOrder order = lastColumns(input, positions + 1);
    Lateness lateness = new Lateness(checked, counters);
    return waiting(input, keys, new FirstRowProcessor(schema, momentAt, order, lateness), outputDdl);
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
            new RowOrder(positions(order), flags(descending), flags(nullsFirst)),
            skip,
            limit,
            false,
            ranked,
            null,
            false,
            0);
    return waiting(
        input, keys, new WindowTopNProcessor(spec, new Lateness(checked, counters)), outputDdl);
  }

  /**
   * Left rows with the version of the right row at their moment; see {@link
   * TemporalJoinProcessor}.
   *
   * @param input rows of (row kind, keys..., left STRUCT, right STRUCT, moment, position)
   * @param condition what pairs must fulfil beside equal keys, as Spark SQL; null for nothing
   */
  public static Dataset<Row> temporalJoin(
      Dataset<Row> input, boolean outer, String condition, String outputDdl) {
    StructType schema = input.schema();
    int leftAt = schema.length() - 4;
    StructType left = (StructType) schema.fields()[leftAt].dataType();
    StructType right = (StructType) schema.fields()[leftAt + 1].dataType();
    return waiting(
        input,
        List.of(schema.fieldNames()).subList(1, leftAt),
        new TemporalJoinProcessor(
            left, right, leftAt, outer, pairCondition(input, condition, left, right)),
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
    return waiting(
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
                pairCondition(input, condition, left, right))),
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
    return waiting(
        input,
        keys,
        new WindowJoinProcessor(
            new WindowJoinProcessor.Spec(
                left,
                right,
                leftAt,
                JoinKind.valueOf(kind),
                pairCondition(input, condition, left, right),
                new Lateness(checked.get(0), counters.get(0)),
                new Lateness(checked.get(1), counters.get(1)))),
        outputDdl);
  }

  private static PairCondition pairCondition(
      Dataset<Row> input, String condition, StructType left, StructType right) {
    return condition == null
        ? null
        : PairCondition.of(input.sparkSession(), condition, left, right);
  }

  private static Dataset<Row> folded(
      Dataset<Row> input,
      List<String> keys,
      List<Aggregation> calls,
      List<Accumulator> accumulators,
      PartialRows partials) {
    StructType raw = input.schema();
    int[] keyPositions = keys.stream().mapToInt(raw::fieldIndex).toArray();
    return input.mapPartitions(
        new LocalAggregate(calls, accumulators, keyPositions, partials),
        Encoders.row(partials.schema(raw, keyPositions)));
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
    return stateful(
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
            positions(leftKey),
            leftUpserts,
            right,
            positions(rightKey),
            rightUpserts,
            pairCondition(input, condition, left, right),
            positions(outputKey),
            before,
            leftTtl,
            rightTtl);
    List<String> keys = List.of(schema.fieldNames()).subList(1, leftAt);
    return stateful(input, keys, new JoinProcessor(spec), spec.expires(), outputDdl);
  }

  /** The one row of each key; see {@link MaterializeProcessor}. */
  public static Dataset<Row> materialize(
      Dataset<Row> input,
      List<String> keys,
      String rowDdl,
      List<Integer> order,
      long ttl,
      String outputDdl) {
    RowOrder asCame = RowOrder.ascending(positions(order));
    return stateful(
        input, keys, new MaterializeProcessor(rowDdl, asCame, ttl), ttl > 0, outputDdl);
  }

  /**
   * Rows with aggregates over those up to them; see {@link SortedOverProcessor}.
   *
   * @param order positions of the columns that rows are ordered by, without the row kind; the first
   *     is what the query asks for
   * @param peers whether the frame is RANGE
   * @param outputKey positions, or null; see {@link NetRows#changes}
   */
  public static Dataset<Row> sortedOver(
      Dataset<Row> input,
      List<String> keys,
      List<Aggregation> calls,
      List<Integer> order,
      boolean nullsFirst,
      boolean peers,
      List<Integer> outputKey,
      boolean before,
      String outputDdl) {
    int[] columns = positions(order);
    boolean[] first = new boolean[columns.length];
    first[0] = nullsFirst;
    SortedOverProcessor processor =
        new SortedOverProcessor(
            input.drop(input.columns()[RowKind.POSITION]).schema(),
            new ArrayList<>(calls),
            new RowOrder(columns, new boolean[columns.length], first),
            peers ? columns[0] : -1,
            positions(outputKey),
            before);
    return stateful(input, keys, processor, false, outputDdl);
  }

  /**
   * The first rows of each partition; see {@link TopNProcessor}.
   *
   * @param order positions of the columns that rows are ordered by, without the row kind
   * @param outputKey positions, or null; see {@link NetRows#changes}
   */
  public static Dataset<Row> topN(
      Dataset<Row> input,
      List<String> keys,
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
            new RowOrder(positions(order), flags(descending), flags(nullsFirst)),
            skip,
            limit,
            retracting,
            ranked,
            positions(outputKey),
            before,
            ttl);
    return stateful(input, keys, new TopNProcessor(spec), ttl > 0, outputDdl);
  }

  private static boolean[] flags(List<Boolean> flags) {
    boolean[] found = new boolean[flags.size()];
    for (int i = 0; i < found.length; i++) {
      found[i] = flags.get(i);
    }
    return found;
  }

  private static int[] positions(List<Integer> positions) {
    return positions == null ? null : positions.stream().mapToInt(i -> i).toArray();
  }

  /** A filter that judges updates as a whole; see {@link PairedFilter}. */
  public static Dataset<Row> pairedFilter(Dataset<Row> input, boolean before, String outputDdl) {
    return input.mapPartitions(
        new PairedFilter(before), Encoders.row(StructType.fromDDL(outputDdl)));
  }

  /** A processor whose state may go by the clock, which Spark must then look at. */
  private static Dataset<Row> stateful(
      Dataset<Row> input,
      List<String> keys,
      StatefulProcessor<Row, Row, Row> processor,
      boolean expires,
      String outputDdl) {
    TimeMode time = expires ? TimeMode.ProcessingTime() : TimeMode.None();
    return stateful(input, keys, processor, time, outputDdl);
  }

  /** A processor that waits for the watermark. */
  private static Dataset<Row> waiting(
      Dataset<Row> input,
      List<String> keys,
      StatefulProcessor<Row, Row, Row> processor,
      String outputDdl) {
    return stateful(input, keys, processor, TimeMode.EventTime(), outputDdl);
  }

  private static Dataset<Row> stateful(
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
      int[] at = keys.stream().mapToInt(schema::fieldIndex).toArray();
      return Rehearsal.stateful(plain, at, processor, time, Plain.row(output))
          .toDF(output.fieldNames());
    }
    return plain
        .groupBy(columns)
        .as(Encoders.row(plain.select(columns).schema()), Encoders.row(plain.schema()))
        .transformWithState(
            processor, time, OutputMode.Update(), Plain.row(output))
        .toDF(output.fieldNames());
  }
}
