package io.streamtable.operators.over;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.aggregate.AggregateState;
import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowValue;
import io.streamtable.operators.state.ExpiringState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads append-only rows of one partition, and emits each row at once with its aggregates, in
 * arrival order.
 *
 * <p>Input rows are (row kind, columns..., position...). A row's place is its number or, for a time
 * frame, its processing time in microseconds. Rows of a batch with the same time share the place;
 * rows of a later batch get a later place. State (layout v1): "rows", place -> rows that a bounded
 * frame still needs; for an unbounded frame the state of {@link AggregateState}.
 */
public final class ProcessingTimeOverProcessor extends RowProcessor {
  private final StructType row;
  private final OverFrame frame;
  private final Comparator<Row> order;
  private final int timeAt;
  private final long ttl;
  private final boolean renews;
  private transient MapState<Long, Row> rows;

  /**
   * @param row the row kind and the columns
   * @param order order of the rows of a batch
   * @param timeAt position of the time, in microseconds; below 0 if rows are numbered
   * @param ttl see {@link ExpiringState#of}
   */
  ProcessingTimeOverProcessor(
      StructType row, OverFrame frame, Comparator<Row> order, int timeAt, long ttl) {
    this.row = row;
    this.frame = frame;
    this.order = order;
    this.timeAt = timeAt;
    this.ttl = ttl;
    // A partition of numbered rows expires as a whole, after its last row.
    this.renews = ttl > 0 && timeAt < 0;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    StatefulProcessorHandle handle = ExpiringState.of(getHandle(), ttl);
    StructType list = new StructType().add("rows", DataTypes.createArrayType(row));
    rows = handle.getMapState("rows", DirectEncoder.longs(), Plain.row(list), TTLConfig.NONE());
    frame.open(handle);
  }

  @Override
  public boolean takesBundles() {
    return false; // the rows of a call are sorted by position, which differs from their times
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    List<Row> added = new ArrayList<>(CollectionConverters.asJava(input.toSeq()));
    added.sort(order);
    SortedMap<Long, List<Row>> stored = load();
    long passed = stored.isEmpty() ? 0 : stored.lastKey();
    SortedMap<Long, List<Row>> all = new TreeMap<>(stored);
    long place = passed;
    for (Row next : added) {
      place = timeAt < 0 ? place + 1 : Math.max(next.getLong(timeAt), passed + 1);
      all.computeIfAbsent(place, none -> new ArrayList<>())
          .add(RowValue.slice(next, 0, row.length()));
    }
    long last = all.lastKey();
    List<Row> output = frame.results(all, passed);
    frame.forget(all, last);
    keep(stored, all);
    return CollectionConverters.asScala(output.iterator());
  }

  private SortedMap<Long, List<Row>> load() {
    SortedMap<Long, List<Row>> all = new TreeMap<>();
    scala.collection.Iterator<Tuple2<Long, Row>> entries = rows.iterator();
    while (entries.hasNext()) {
      Tuple2<Long, Row> entry = entries.next();
      all.put(entry._1(), entry._2().getList(0));
    }
    return all;
  }

  /** Writes the changed entries to state. */
  private void keep(SortedMap<Long, List<Row>> stored, SortedMap<Long, List<Row>> all) {
    for (Long place : stored.keySet()) {
      if (!all.containsKey(place)) {
        rows.removeKey(place);
      }
    }
    all.forEach(
        (place, list) -> {
          if (renews || stored.get(place) != list) {
            rows.updateValue(place, RowFactory.create((Object) list.toArray(new Row[0])));
          }
        });
  }
}
