package io.streamtable.operators.join.temporal;

import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
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
 */
final class Versions implements Serializable {
  private final StructType right;
  private transient MapState<Long, Row> state;

  Versions(StructType right) {
    this.right = right;
  }

  void open(StatefulProcessorHandle handle) {
    StructType version = new StructType().add("row", right, true);
    state =
        handle.getMapState("versions", DirectEncoder.longs(), Plain.row(version), TTLConfig.NONE());
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
    Long from = moment == null ? newest(Long.MAX_VALUE) : moment;
    if (from != null) {
      state.updateValue(from, RowFactory.create(deleted ? null : row));
    }
  }

  /** Returns the row that is valid at a time; null for none. */
  Row at(long moment) {
    Long found = newest(moment);
    return found == null ? null : state.getValue(found).getStruct(0);
  }

  boolean isEmpty() {
    return !state.keys().hasNext();
  }

  void clear() {
    state.clear();
  }

  /**
   * Removes the versions up to the watermark except the newest one, which stays only if it is a
   * row.
   */
  void forget(long watermark) {
    Long newest = newest(watermark);
    if (newest == null) {
      return;
    }
    List<Long> old = new ArrayList<>();
    scala.collection.Iterator<Tuple2<Long, Row>> entries = state.iterator();
    while (entries.hasNext()) {
      Tuple2<Long, Row> entry = entries.next();
      boolean replaced = entry._1() < newest;
      if (replaced || (entry._1().equals(newest) && entry._2().isNullAt(0))) {
        old.add(entry._1());
      }
    }
    old.forEach(state::removeKey);
  }

  /** Returns the event time of the newest version at or before a time; null for none. */
  private Long newest(long moment) {
    Long best = null;
    scala.collection.Iterator<Long> moments = state.keys();
    while (moments.hasNext()) {
      Long next = moments.next();
      if (next <= moment && (best == null || next > best)) {
        best = next;
      }
    }
    return best;
  }
}
