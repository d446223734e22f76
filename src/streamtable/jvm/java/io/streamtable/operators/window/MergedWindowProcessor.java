package io.streamtable.operators.window;

import io.streamtable.functions.WindowZone;
import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.aggregate.MergedAggregates;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.state.EventTimers;
import io.streamtable.operators.state.Lateness;
import io.streamtable.operators.state.OrderedValue;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads append-only rows of one group, keeps aggregates of spans of time, and emits the aggregates
 * of a window, merged from its spans, when the watermark passes.
 *
 * <p>State (layout v1): "parts", one row per group with the watermark up to which windows have been
 * emitted, the time of the timer, and the spans with their aggregates ({@link MergedAggregates}). A
 * group has one timer, at or before the end of its next window.
 */
abstract class MergedWindowProcessor extends RowProcessor {
  /** The time of no timer, and the end of no window. */
  static final long NONE = Long.MAX_VALUE;

  /** Position of the start of a part, which is the first of its columns. */
  static final int START = 0;

  protected final MergedAggregates aggregates;
  protected final WindowZone zone;
  protected final Lateness lateness;
  private final int keys;
  private transient ValueState<Row> state;
  /** The parts of the current group by their start. */
  protected transient TreeMap<Long, Object[]> parts;
  /** The watermark up to which windows of the current group have been emitted. */
  protected transient long emitted;
  private transient long timer;
  private transient boolean known;

  MergedWindowProcessor(
      MergedAggregates aggregates, int keys, WindowZone zone, Lateness lateness) {
    this.aggregates = aggregates;
    this.keys = keys;
    this.zone = zone;
    this.lateness = lateness;
  }

  /** Adds an input row, unless it is known to be late. */
  abstract void add(Row row, TimerValues timers);

  /** Removes added rows that turned out to be late when all rows of the call were added. */
  void dropLate(TimerValues timers) {}

  /** Emits the windows that the watermark has passed, and removes parts that no window needs. */
  abstract void fire(Row key, long watermark, List<Row> output);

  /** Returns the last millisecond of the next window after the watermark; NONE without parts. */
  abstract long next(long watermark);

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    StructType schema =
        new StructType()
            .add("emitted", DataTypes.LongType)
            .add("timer", DataTypes.LongType)
            .add("parts", DataTypes.createArrayType(aggregates.schema()));
    state =
        OrderedValue.of(getHandle().getValueState("parts", Plain.row(schema), TTLConfig.NONE()));
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    long watermark = EventTimers.watermark(timers);
    List<Row> output = new ArrayList<>();
    load(watermark);
    // Rows of this batch must not join windows that the watermark has passed.
    fire(key, watermark, output);
    emitted = Math.max(emitted, watermark);
    while (input.hasNext()) {
      add(input.next(), timers);
    }
    dropLate(timers);
    long reached = EventTimers.reached(timers);
    if (reached > watermark) {
      fire(key, reached, output);
    }
    store(reached);
    return CollectionConverters.asScala(output.iterator());
  }

  @Override
  public scala.collection.Iterator<Row> handleExpiredTimer(
      Row key, TimerValues timers, ExpiredTimerInfo expired) {
    long watermark = EventTimers.watermark(timers);
    List<Row> output = new ArrayList<>();
    load(watermark);
    if (known) {
      // Spark deletes the timer that has expired.
      timer = NONE;
      fire(key, watermark, output);
      store(watermark);
    }
    return CollectionConverters.asScala(output.iterator());
  }

  private void load(long watermark) {
    Row stored = state.get();
    known = stored != null;
    parts = new TreeMap<>();
    emitted = known ? stored.getLong(0) : watermark;
    timer = known ? stored.getLong(1) : NONE;
    if (known) {
      for (Object part : stored.getList(2)) {
        Object[] columns = aggregates.part((Row) part);
        parts.put((Long) columns[START], columns);
      }
    }
  }

  private void store(long watermark) {
    long next = next(watermark);
    // A timer that is due has nothing left to do. An earlier one that is not due remains: when it
    // expires, it is set to the next window.
    if (next < timer || timer <= watermark || parts.isEmpty()) {
      if (timer != NONE) {
        EventTimers.delete(getHandle(), timer);
      }
      timer = next;
      if (timer != NONE) {
        EventTimers.register(getHandle(), timer);
      }
    }
    if (!parts.isEmpty()) {
      Row[] rows = parts.values().stream().map(RowFactory::create).toArray(Row[]::new);
      state.update(RowFactory.create(watermark, timer, rows));
    } else if (known) {
      state.clear();
    }
  }

  /** Returns an output row: (row kind, key columns..., start, end, last, aggregates...). */
  protected Row row(Row key, long start, long end, Iterable<Object[]> merged) {
    int results = 1 + keys + 3;
    Object[] columns = new Object[results + aggregates.count()];
    columns[RowKind.POSITION] = RowKind.INSERT;
    for (int i = 0; i < keys; i++) {
      columns[1 + i] = key.get(i);
    }
    SessionOutput.bounds(columns, 1 + keys, start, end, zone.time(end));
    aggregates.results(merged, columns, results);
    return RowFactory.create(columns);
  }
}
