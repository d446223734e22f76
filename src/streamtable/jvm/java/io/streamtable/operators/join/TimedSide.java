package io.streamtable.operators.join;

import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.Plain;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;

/**
 * The rows of one input of an interval join that share a join key. State (layout v1): event time ->
 * the rows of that time, each with a flag whether it has matched.
 *
 * <p>Within a call, the rows are read once and each changed time is written once.
 */
final class TimedSide implements Serializable {
  /** The rows of an event time, each as (row, whether it has matched). */
  static final class Moment {
    private final List<Row> rows;
    private boolean changed;

    private Moment(List<Row> rows) {
      this.rows = rows;
    }

    List<Row> rows() {
      return rows;
    }

    void match(int index) {
      Row kept = rows.get(index);
      if (!kept.getBoolean(1)) {
        rows.set(index, RowFactory.create(kept.getStruct(0), true));
        changed = true;
      }
    }

    private void add(Row row, boolean met) {
      rows.add(RowFactory.create(row, met));
      changed = true;
    }
  }

  private final StructType row;
  private transient MapState<Long, Row> state;
  /** Rows that have been read or changed in this call; all of the join key if `isWhole`. */
  private transient NavigableMap<Long, Moment> held;
  /** Rows of this call that no later call needs. */
  private transient NavigableMap<Long, Moment> passing;
  private transient boolean isWhole;

  TimedSide(StructType row) {
    this.row = row;
  }

  void open(StatefulProcessorHandle handle, String name) {
    StructType kept = new StructType().add("row", row).add("met", DataTypes.BooleanType);
    StructType rows = new StructType().add("rows", DataTypes.createArrayType(kept));
    state = handle.getMapState(name, DirectEncoder.longs(), Plain.row(rows), TTLConfig.NONE());
  }

  /** Moves to another join key. */
  void begin() {
    held = new TreeMap<>();
    passing = new TreeMap<>();
    isWhole = false;
  }

  /** Returns the rows of some event times, both ends inclusive. */
  List<Moment> between(long first, long last) {
    if (first > last) {
      return List.of();
    }
    List<Moment> moments = new ArrayList<>(stored().subMap(first, true, last, true).values());
    moments.addAll(passing.subMap(first, true, last, true).values());
    return moments;
  }

  private NavigableMap<Long, Moment> stored() {
    if (!isWhole) {
      scala.collection.Iterator<Tuple2<Long, Row>> entries = state.iterator();
      while (entries.hasNext()) {
        Tuple2<Long, Row> entry = entries.next();
        held.computeIfAbsent(entry._1(), moment -> rows(entry._2()));
      }
      isWhole = true;
    }
    return held;
  }

  private static Moment rows(Row stored) {
    return new Moment(stored == null ? new ArrayList<>() : new ArrayList<>(stored.getList(0)));
  }

  /** Adds a row to the state. */
  void add(long moment, Row own, boolean met) {
    Moment rows = held.get(moment);
    if (rows == null) {
      rows = rows(isWhole ? null : state.getValue(moment));
      held.put(moment, rows);
    }
    rows.add(own, met);
  }

  /** Adds a row for the rest of this call. */
  void pass(long moment, Row own, boolean met) {
    passing.computeIfAbsent(moment, time -> rows(null)).add(own, met);
  }

  /** Returns the rows that {@link #pass} has added in this call. */
  Collection<Moment> passing() {
    return passing.values();
  }

  /** Writes the changes of this call. */
  void write() {
    held.forEach(
        (moment, rows) -> {
          if (rows.changed) {
            state.updateValue(moment, RowFactory.create((Object) rows.rows.toArray(new Row[0])));
          }
        });
  }

  /** Removes the rows up to an event time from the state, and returns them. */
  List<Moment> take(long last) {
    NavigableMap<Long, Moment> taken = stored().headMap(last, true);
    taken.keySet().forEach(state::removeKey);
    return new ArrayList<>(taken.values());
  }
}
