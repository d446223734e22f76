package io.streamtable.operators.state;

import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowValue;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;

/** Rows of one partition in a map state: event time in milliseconds -> rows in arrival order. */
public final class RowsByTime implements Serializable {
  private final StructType row;
  private final Comparator<Row> arrival;
  private final Lateness lateness;
  private transient MapState<Long, Row> state;

  /**
   * @param row the stored columns; in input rows, the event time follows them
   * @param arrival order of rows with the same event time in a batch
   */
  public RowsByTime(StructType row, Comparator<Row> arrival, Lateness lateness) {
    this.row = row;
    this.arrival = arrival;
    this.lateness = lateness;
  }

  public void open(StatefulProcessorHandle handle, String name) {
    StructType list = new StructType().add("rows", DataTypes.createArrayType(row));
    state = handle.getMapState(name, DirectEncoder.longs(), Plain.row(list), TTLConfig.NONE());
  }

  /** Returns the rows of a batch that are not late, by event time. */
  public SortedMap<Long, List<Row>> arrived(scala.collection.Iterator<Row> input, TimerValues timers) {
    int momentAt = row.length();
    List<Row> added = new ArrayList<>();
    while (input.hasNext()) {
      Row next = input.next();
      if (lateness.isLate(next.getLong(momentAt), timers)) {
        lateness.count(1);
      } else {
        added.add(next);
      }
    }
    added.sort(arrival);
    SortedMap<Long, List<Row>> arrived = new TreeMap<>();
    for (Row next : added) {
      arrived
          .computeIfAbsent(next.getLong(momentAt), moment -> new ArrayList<>())
          .add(RowValue.slice(next, 0, momentAt));
    }
    return arrived;
  }

  /** Returns whether rows of a time need not be stored; see {@link Lateness#isComplete}. */
  public boolean isComplete(long moment, TimerValues timers) {
    return lateness.isComplete(moment, timers);
  }

  /** Stores rows of a batch behind the stored rows. */
  public void add(SortedMap<Long, List<Row>> arrived) {
    arrived.forEach(
        (moment, rows) -> {
          Row stored = state.getValue(moment);
          put(moment, stored == null ? rows : joined(stored.getList(0), rows));
        });
  }

  /** Returns stored rows with rows of a batch behind them. */
  public static SortedMap<Long, List<Row>> merged(
      SortedMap<Long, List<Row>> stored, SortedMap<Long, List<Row>> arrived) {
    SortedMap<Long, List<Row>> all = new TreeMap<>(stored);
    arrived.forEach((moment, rows) -> all.merge(moment, rows, RowsByTime::joined));
    return all;
  }

  private static List<Row> joined(List<Row> first, List<Row> others) {
    List<Row> all = new ArrayList<>(first);
    all.addAll(others);
    return all;
  }

  /** Replaces the stored rows, and writes what differs. */
  public void replace(SortedMap<Long, List<Row>> stored, SortedMap<Long, List<Row>> rows) {
    rows.forEach(
        (moment, now) -> {
          if (stored.get(moment) != now) {
            put(moment, now);
          }
        });
    for (Long moment : stored.keySet()) {
      if (!rows.containsKey(moment)) {
        state.removeKey(moment);
      }
    }
  }

  private void put(long moment, List<Row> rows) {
    state.updateValue(moment, RowFactory.create((Object) rows.toArray(new Row[0])));
  }

  public void clear() {
    state.clear();
  }

  /** Returns all rows. */
  public SortedMap<Long, List<Row>> load() {
    SortedMap<Long, List<Row>> all = new TreeMap<>();
    scala.collection.Iterator<Tuple2<Long, Row>> entries = state.iterator();
    while (entries.hasNext()) {
      Tuple2<Long, Row> entry = entries.next();
      all.put(entry._1(), entry._2().getList(0));
    }
    return all;
  }
}
