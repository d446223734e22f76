package io.streamtable.operators.join.temporal;

import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import java.io.Serializable;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;

/**
 * The versions of the right row of one key. State (layout v1): "versions", event time -> the row
 * that is valid from then on, null if it was deleted.
 *
 * <p>Within a call, the versions are read once and each change is written once.
 */
final class Versions implements Serializable {
  private final StructType right;
  private transient MapState<Long, Row> state;
  /** Versions that have been changed in this call, and all others if `isWhole`. */
  private transient NavigableMap<Long, Row> held;
  private transient Set<Long> changed;
  private transient boolean isWhole;

  Versions(StructType right) {
    this.right = right;
  }

  void open(StatefulProcessorHandle handle) {
    StructType version = new StructType().add("row", right, true);
    state =
        handle.getMapState("versions", DirectEncoder.longs(), Plain.row(version), TTLConfig.NONE());
  }

  /** Moves to another key. */
  void begin() {
    held = new TreeMap<>();
    changed = new TreeSet<>();
    isWhole = false;
  }

  private NavigableMap<Long, Row> all() {
    if (!isWhole) {
      scala.collection.Iterator<Tuple2<Long, Row>> entries = state.iterator();
      while (entries.hasNext()) {
        Tuple2<Long, Row> entry = entries.next();
        if (!held.containsKey(entry._1())) {
          held.put(entry._1(), entry._2().getStruct(0));
        }
      }
      isWhole = true;
    }
    return held;
  }

  /**
   * Applies a change of the versioned table.
   *
   * @param moment its event time; null for a tombstone, which deletes the newest version, as in
   *     Flink
   */
  void change(byte kind, Long moment, Row row) {
    boolean deleted = kind == RowKind.DELETE;
    if (kind == RowKind.UPDATE_BEFORE || (moment == null && !deleted)) {
      return;
    }
    Long from = moment == null && !all().isEmpty() ? all().lastKey() : moment;
    if (from != null) {
      held.put(from, deleted ? null : row);
      changed.add(from);
    }
  }

  /** Returns the row that is valid at a time; null for none. */
  Row at(long moment) {
    Map.Entry<Long, Row> newest = all().floorEntry(moment);
    return newest == null ? null : newest.getValue();
  }

  boolean isEmpty() {
    return all().isEmpty();
  }

  void clear() {
    state.clear();
    begin();
  }

  /**
   * Removes the versions up to the watermark except the newest one, which stays only if it is a
   * row.
   */
  void forget(long watermark) {
    Map.Entry<Long, Row> newest = all().floorEntry(watermark);
    if (newest != null) {
      NavigableMap<Long, Row> old = held.headMap(newest.getKey(), newest.getValue() == null);
      changed.addAll(old.keySet());
      old.clear();
    }
  }

  /** Writes the changes of this call. */
  void write() {
    for (Long from : changed) {
      if (held.containsKey(from)) {
        state.updateValue(from, RowFactory.create(held.get(from)));
      } else {
        state.removeKey(from);
      }
    }
  }
}
