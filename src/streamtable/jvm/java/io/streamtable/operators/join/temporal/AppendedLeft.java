package io.streamtable.operators.join.temporal;

import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.state.EventTimers;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Append-only left rows of a temporal join. State (layout v1): "waiting", event time -> rows that
 * the watermark has not passed.
 */
final class AppendedLeft implements TemporalLeft {
  private final StructType left;
  private final VersionedPair pair;
  private transient StatefulProcessorHandle handle;
  private transient MapState<Long, Row> waiting;
  /** Rows of a call that are not in state. */
  private transient NavigableMap<Long, List<Row>> added;
  /** Times of rows in state that the watermark has passed. */
  private transient Set<Long> stored;

  AppendedLeft(StructType left, VersionedPair pair) {
    this.left = left;
    this.pair = pair;
  }

  @Override
  public void open(StatefulProcessorHandle handle) {
    this.handle = handle;
    StructType rows = new StructType().add("rows", DataTypes.createArrayType(left));
    waiting =
        handle.getMapState("waiting", DirectEncoder.longs(), Plain.row(rows), TTLConfig.NONE());
    added = new TreeMap<>();
  }

  @Override
  public void add(byte kind, long moment, Row row) {
    added.computeIfAbsent(moment, at -> new ArrayList<>()).add(row);
  }

  @Override
  public void complete(TimerValues timers) {
    boolean advances = EventTimers.advances(timers);
    SortedMap<Long, List<Row>> later =
        advances ? added.tailMap(EventTimers.reached(timers), false) : added;
    later.forEach(
        (moment, rows) -> {
          Row stored = waiting.getValue(moment);
          List<Row> all = stored == null ? new ArrayList<>() : new ArrayList<>(stored.getList(0));
          all.addAll(rows);
          waiting.updateValue(moment, RowFactory.create((Object) all.toArray(new Row[0])));
          if (stored == null) {
            EventTimers.register(handle, moment);
          }
        });
    later.clear();
  }

  @Override
  public boolean waits() {
    return waiting.keys().hasNext();
  }

  @Override
  public List<Long> passed(long watermark) {
    stored = new HashSet<>(TemporalLeft.passed(waiting, watermark));
    SortedSet<Long> passed = new TreeSet<>(stored);
    passed.addAll(added.keySet());
    return List.copyOf(passed);
  }

  @Override
  public List<Row> emit(List<Long> moments, Versions versions, TimerValues timers) {
    List<Row> output = new ArrayList<>();
    for (Long moment : moments) {
      Row version = versions.at(moment);
      for (Row row : taken(moment, timers)) {
        Row joined = pair.joined(row, version);
        if (joined != null) {
          output.add(RowKind.with(RowKind.INSERT, joined));
        }
      }
    }
    return output;
  }

  private List<Row> taken(long moment, TimerValues timers) {
    List<Row> rows = new ArrayList<>();
    if (stored.contains(moment)) {
      rows.addAll(waiting.getValue(moment).getList(0));
      waiting.removeKey(moment);
      if (EventTimers.advances(timers)) {
        EventTimers.delete(handle, moment);
      }
    }
    List<Row> arrived = added.remove(moment);
    if (arrived != null) {
      rows.addAll(arrived);
    }
    return rows;
  }
}
