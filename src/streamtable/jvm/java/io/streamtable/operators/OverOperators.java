package io.streamtable.operators;

import io.streamtable.codec.Counters;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/** Puts processors that look at the rows before each row between DataFrames; Python calls it. */
public final class OverOperators {
  private OverOperators() {}

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
   * @param ttl see {@link IdleTime}
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
      long ttl,
      String outputDdl) {
    StructType schema = input.schema();
    int momentAt = schema.length() - positions - 1;
    OverFrame frame = frame(calls, peers, preceding, bitmaps);
    StructType row = new StructType(Arrays.copyOf(schema.fields(), momentAt));
    RowOrder asCame = Keyed.lastColumns(input, positions + 1);
    Lateness lateness = new Lateness(checked, counters);
    return Keyed.waiting(
        input, keys, new OverProcessor(row, frame, asCame, lateness, ttl), outputDdl);
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
        new ArrivalOverProcessor(row, frame, Keyed.lastColumns(input, positions), timeAt, ttl);
    return Keyed.stateful(input, keys, processor, ttl > 0, outputDdl);
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
        new ArrivalDeduplicateProcessor(
            row, Keyed.lastColumns(input, positions), last, before, ttl);
    return Keyed.stateful(input, keys, processor, ttl > 0, outputDdl);
  }

  /**
   * The first row of each partition, when the watermark passes; see {@link FirstRowProcessor}.
   *
   * @param input ends in each row's moment in milliseconds, and in what `positions` counts
   * @param checked see {@link Lateness}
   * @param ttl see {@link IdleTime}
   */
  public static Dataset<Row> firstRow(
      Dataset<Row> input,
      List<String> keys,
      int positions,
      boolean checked,
      Counters counters,
      long ttl,
      String outputDdl) {
    StructType schema = input.schema();
    int momentAt = schema.length() - positions - 1;
    RowOrder order = Keyed.lastColumns(input, positions + 1);
    Lateness lateness = new Lateness(checked, counters);
    return Keyed.waiting(
        input, keys, new FirstRowProcessor(schema, momentAt, order, lateness, ttl), outputDdl);
  }

  /**
   * Rows with aggregates over those up to them; see {@link SortedOverProcessor}.
   *
   * @param order positions of the columns that rows are ordered by, without the row kind; the first
   *     is what the query asks for
   * @param peers whether the frame is RANGE
   * @param outputKey positions, or null; see {@link NetRows#changes}
   * @param ttl see {@link ExpiringState#of}
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
      long ttl,
      String outputDdl) {
    int[] columns = Keyed.positions(order);
    boolean[] first = new boolean[columns.length];
    first[0] = nullsFirst;
    SortedOverProcessor processor =
        new SortedOverProcessor(
            input.drop(input.columns()[RowKind.POSITION]).schema(),
            new ArrayList<>(calls),
            new RowOrder(columns, new boolean[columns.length], first),
            peers ? columns[0] : -1,
            Keyed.positions(outputKey),
            before,
            ttl);
    return Keyed.stateful(input, keys, processor, ttl > 0, outputDdl);
  }
}
