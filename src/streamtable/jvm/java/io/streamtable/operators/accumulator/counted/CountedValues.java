package io.streamtable.operators.accumulator.counted;

import io.streamtable.operators.accumulator.ExtremeAccumulator;
import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.Plain;
import java.io.Serializable;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** A multiset of values per group in state: value -> count. */
final class CountedValues implements Serializable {
  private final StructType keySchema;
  private final CountedChanges pending = new CountedChanges();
  private transient MapState<Row, Long> counts;

  CountedValues(DataType type) {
    this.keySchema =
        new StructType(new StructField[] {DataTypes.createStructField("value", type, true)});
  }

  void open(StatefulProcessorHandle handle, String name) {
    Encoder<Row> keys = Plain.row(keySchema);
    counts = handle.getMapState(name, keys, DirectEncoder.longs(), TTLConfig.NONE());
  }

  /** Returns the changes of the batch, to be filled before {@link #settle}. */
  CountedChanges pending() {
    return pending;
  }

  /** Receives the changes of each value when a batch is applied. */
  interface Watcher {
    void changed(Object value, boolean there);
  }

  /**
   * Applies the batch. Notifies the watcher of each value whose count rises from zero or falls to
   * zero.
   */
  void settle(Watcher watcher) {
    pending.drain(
        (value, by) -> {
          Row key = RowFactory.create(value);
          Long stored = counts.getValue(key);
          long before = stored == null ? 0 : stored;
          long after = Math.max(0, before + by);
          if (after == 0) {
            counts.removeKey(key);
          } else {
            counts.updateValue(key, after);
          }
          if ((before > 0) != (after > 0)) {
            watcher.changed(value, after > 0);
          }
        });
  }

  /** Returns the least or greatest value, or null. Reads every distinct value of the group. */
  Object extreme(boolean max) {
    Object best = null;
    scala.collection.Iterator<Row> values = counts.keys();
    while (values.hasNext()) {
      Object value = values.next().get(0);
      if (best == null || ExtremeAccumulator.beats(value, best, max)) {
        best = value;
      }
    }
    return best;
  }

  void clear() {
    counts.clear();
  }
}
