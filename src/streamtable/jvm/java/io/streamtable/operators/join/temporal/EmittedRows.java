package io.streamtable.operators.join.temporal;

import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.join.CountedRows;
import io.streamtable.operators.row.NetRows;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.state.IdleTime;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;

/**
 * Left rows of one key that a temporal join has emitted and that may be retracted.
 *
 * <p>State (layout v1): "emitted", event time -> the version that the rows of this time were joined
 * with, null for none, and the rows with their counts; with a TTL also the time of the last write,
 * in milliseconds. An expired entry is hidden at once. Spark removes no state of an operator that
 * waits for the watermark, so expired entries are removed together, once per TTL; see
 * {@link IdleTime}, whose state is "swept".
 */
final class EmittedRows implements Serializable {
  private final CountedRows counted;
  private final StructType right;
  private final boolean unmatched;
  private final long ttl;
  private final IdleTime swept;
  private transient MapState<Long, Row> state;

  /** The rows of one event time, which were joined with one version. */
  record Entry(Row version, NetRows rows) {}

  /**
   * @param unmatched whether rows without a version are emitted
   * @param ttl in milliseconds; 0 for none
   */
  EmittedRows(CountedRows counted, StructType right, boolean unmatched, long ttl) {
    this.counted = counted;
    this.right = right;
    this.unmatched = unmatched;
    this.ttl = ttl;
    this.swept = new IdleTime(ttl, "swept");
  }

  void open(StatefulProcessorHandle handle) {
    StructType entry = new StructType().add("version", right, true).add("rows", counted.type());
    if (expires()) {
      entry = entry.add("at", DataTypes.LongType);
    }
    state =
        handle.getMapState("emitted", DirectEncoder.longs(), Plain.row(entry), TTLConfig.NONE());
    swept.open(handle);
  }

  boolean expires() {
    return ttl > 0;
  }

  /** Returns the rows of a time; null for none. */
  Entry find(long moment, TimerValues timers) {
    Row stored = state.getValue(moment);
    if (stored == null || isOver(stored, timers)) {
      return null;
    }
    NetRows rows = new NetRows();
    counted.load(stored, 1, rows);
    return new Entry(stored.getStruct(0), rows);
  }

  /** Stores the rows of a time, unless they can have emitted nothing. */
  void put(long moment, Row version, NetRows rows, TimerValues timers) {
    if (rows.isEmpty() || (version == null && !unmatched)) {
      state.removeKey(moment);
      return;
    }
    Object stored = counted.stored(rows);
    if (!expires()) {
      state.updateValue(moment, RowFactory.create(version, stored));
      return;
    }
    long now = timers.getCurrentProcessingTimeInMs();
    state.updateValue(moment, RowFactory.create(version, stored, now));
    swept.start(timers);
  }

  /** Called when a timer of the key has fired: removes expired entries if it is time to. */
  void expire(TimerValues timers) {
    if (!swept.endsAt(timers)) {
      return;
    }
    List<Long> over = new ArrayList<>();
    scala.collection.Iterator<Tuple2<Long, Row>> entries = state.iterator();
    while (entries.hasNext()) {
      Tuple2<Long, Row> entry = entries.next();
      if (isOver(entry._2(), timers)) {
        over.add(entry._1());
      }
    }
    over.forEach(state::removeKey);
    swept.clear();
    if (state.keys().hasNext()) {
      swept.start(timers);
    }
  }

  private boolean isOver(Row stored, TimerValues timers) {
    return expires() && stored.getLong(2) + ttl <= timers.getCurrentProcessingTimeInMs();
  }
}
