package io.streamtable.operators.join;

import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.Plain;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
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
  private final StructType row;
  private transient MapState<Long, Row> state;
  /** Rows that have been read or changed in this call; all of the join key if `isWhole`. */
  private transient NavigableMap<Long, List<Row>> held;
  private transient Set<Long> changed;
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
    changed = new TreeSet<>();
    isWhole = false;
  }

  /** Returns the rows of some event times, both ends inclusive; each is (row, met). */
  NavigableMap<Long, List<Row>> between(long first, long last) {
    if (!isWhole) {
      scala.collection.Iterator<Tuple2<Long, Row>> entries = state.iterator();
      while (entries.hasNext()) {
        Tuple2<Long, Row> entry = entries.next();
        held.putIfAbsent(entry._1(), new ArrayList<>(entry._2().getList(0)));
      }
      isWhole = true;
    }
    return first > last ? new TreeMap<>() : held.subMap(first, true, last, true);
  }

  void add(long moment, Row own, boolean met) {
    List<Row> rows = held.get(moment);
    if (rows == null) {
      Row stored = isWhole ? null : state.getValue(moment);
      rows = stored == null ? new ArrayList<>() : new ArrayList<>(stored.getList(0));
      held.put(moment, rows);
    }
    rows.add(RowFactory.create(own, met));
    changed.add(moment);
  }

  /** Notes that the flag of a row was set in the result of {@link #between}. */
  void change(long moment) {
    changed.add(moment);
  }

  /** Writes the changes of this call. */
  void write() {
    for (long moment : changed) {
      Row[] rows = held.get(moment).toArray(new Row[0]);
      state.updateValue(moment, RowFactory.create((Object) rows));
    }
  }

  /** Removes the rows of an event time. */
  void remove(long moment) {
    state.removeKey(moment);
  }
}
