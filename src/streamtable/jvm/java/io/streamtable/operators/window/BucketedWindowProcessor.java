package io.streamtable.operators.window;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.aggregate.AggregateState;
import io.streamtable.operators.aggregate.MergedAggregates;
import io.streamtable.operators.row.ColumnsKey;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.state.EventTimers;
import io.streamtable.operators.state.Lateness;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads append-only rows of one window and of the groups of one bucket, and emits the aggregates of
 * each group once, when the watermark passes. The results are those of
 * {@link WindowAggregateProcessor}.
 *
 * <p>The key is (bucket, the window's last millisecond). State (layout v1): "groups", the aggregates
 * ({@link MergedAggregates}) by the grouping columns, deleted when the window fires. A bucket has one
 * timer. Spark's timers cost more reads and writes than the aggregates of a group. The rows of the
 * batch that ends the window are emitted without being written.
 */
public final class BucketedWindowProcessor extends RowProcessor {
  /** Groups of a bucket that are in memory when it fires. */
  private static final int MAX_HELD = 10_000;

  private final MergedAggregates aggregates;
  private final StructType keyType;
  private final int[] keysAt;
  private final int[] keysInState;
  private final Lateness lateness;
  private transient MapState<Row, Row> groups;

  /**
   * @param keyType types of the grouping columns
   * @param keysAt positions of the grouping columns in input rows
   */
  BucketedWindowProcessor(
      MergedAggregates aggregates, StructType keyType, int[] keysAt, Lateness lateness) {
    this.aggregates = aggregates;
    this.keyType = keyType;
    this.keysAt = keysAt;
    this.keysInState = IntStream.range(0, keysAt.length).toArray();
    this.lateness = lateness;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    groups =
        getHandle()
            .getMapState(
                "groups", Plain.row(keyType), Plain.row(aggregates.schema()), TTLConfig.NONE());
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    long last = key.getLong(1);
    if (lateness.isLate(last, timers)) {
      while (input.hasNext()) {
        lateness.count(aggregates.weight(input.next()));
      }
    } else {
      boolean known = groups.exists();
      boolean complete = lateness.isComplete(last, timers);
      // All groups of a new bucket are new, so none is looked for. A bucket that ends is read whole.
      Map<ColumnsKey, Object[]> changed = changed(input, known && !complete);
      if (complete) {
        if (known) {
          EventTimers.delete(getHandle(), last);
        }
        return ended(known ? taken() : none(), changed);
      }
      changed.forEach(
          (group, values) ->
              groups.updateValue(RowFactory.create(group.values()), RowFactory.create(values)));
      if (!known) {
        EventTimers.register(getHandle(), last);
      }
    }
    return none();
  }

  /** Returns the changed groups with the rows of a call. */
  private Map<ColumnsKey, Object[]> changed(scala.collection.Iterator<Row> input, boolean known) {
    Map<ColumnsKey, Object[]> changed = new HashMap<>();
    while (input.hasNext()) {
      Row row = input.next();
      Object[] group =
          changed.computeIfAbsent(
              new ColumnsKey(row, keysAt), key -> known ? stored(key) : aggregates.empty());
      aggregates.add(group, row);
    }
    return changed;
  }

  private Object[] stored(ColumnsKey key) {
    Row found = groups.getValue(RowFactory.create(key.values()));
    return found == null ? aggregates.empty() : aggregates.part(found);
  }

  @Override
  public scala.collection.Iterator<Row> handleExpiredTimer(
      Row key, TimerValues timers, ExpiredTimerInfo expired) {
    return ended(taken(), new HashMap<>());
  }

  /** Returns the results of stored groups together with the rows of a call, then of new groups. */
  private scala.collection.Iterator<Row> ended(
      scala.collection.Iterator<Tuple2<Row, Row>> stored, Map<ColumnsKey, Object[]> added) {
    return stored
        .map(
            entry -> {
              Object[] group = aggregates.part(entry._2());
              Object[] rest = added.remove(new ColumnsKey(entry._1(), keysInState));
              return result(
                  entry._1(), rest == null ? List.<Object[]>of(group) : List.of(group, rest));
            })
        .concat(
            () ->
                CollectionConverters.asScala(added.entrySet().iterator())
                    .map(
                        group ->
                            result(
                                RowFactory.create(group.getKey().values()),
                                List.<Object[]>of(group.getValue()))));
  }

  /** Returns the groups of the bucket, which are deleted at once and read later. */
  private scala.collection.Iterator<Tuple2<Row, Row>> taken() {
    scala.collection.Iterator<Tuple2<Row, Row>> entries = groups.iterator();
    List<Tuple2<Row, Row>> first = new ArrayList<>();
    while (first.size() < MAX_HELD && entries.hasNext()) {
      first.add(entries.next());
    }
    if (first.size() < MAX_HELD) {
      // To delete all would read them a second time.
      first.forEach(entry -> groups.removeKey(entry._1()));
    } else {
      // The iterator still reads the state in which it was opened. It must not have looked for its
      // next entry yet, whose bytes would be overwritten.
      groups.clear();
    }
    return CollectionConverters.asScala(first.iterator()).concat(() -> entries);
  }

  private static <T> scala.collection.Iterator<T> none() {
    return CollectionConverters.asScala(List.<T>of().iterator());
  }

  private Row result(Row key, List<Object[]> parts) {
    Object[] results = new Object[aggregates.count()];
    aggregates.results(parts, results, 0);
    return AggregateState.row(RowKind.INSERT, key, keysAt.length, results);
  }
}
