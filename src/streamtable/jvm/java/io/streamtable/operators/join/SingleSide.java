package io.streamtable.operators.join;

import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.Values;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** One row per join key, which is read once. State (layout v1): (row, matches). */
final class SingleSide implements JoinSide {
  private final StructType schema;
  private transient ValueState<Row> state;
  private transient boolean read;
  /** The content of the state after a read or write; null for none. */
  private transient Row stored;

  SingleSide(StructType row) {
    this.schema = new StructType().add("row", row).add("matches", DataTypes.LongType);
  }

  @Override
  public void open(StatefulProcessorHandle handle, String name) {
    state = handle.getValueState(name, Plain.row(schema), TTLConfig.NONE());
  }

  @Override
  public void begin() {
    read = false;
  }

  @Override
  public boolean isEmpty() {
    return stored() == null;
  }

  @Override
  public Iterator<Entry> entries() {
    return stored() == null
        ? Collections.emptyIterator()
        : List.of(new Entry(stored.getStruct(0), 1, stored.getLong(1))).iterator();
  }

  @Override
  public Row find(Row row) {
    return stored() == null ? null : stored.getStruct(0);
  }

  @Override
  public void add(Row row, long by, long matches) {
    write(RowFactory.create(row, matches));
  }

  @Override
  public long remove(Row row, long by) {
    if (stored() == null) {
      return 0;
    }
    // If the stored row differs, it has replaced this row within the call: see Retractions.
    if (Values.same(stored.getStruct(0), row)) {
      state.clear();
      stored = null;
    }
    return by;
  }

  @Override
  public void refresh(Row row) {
    if (stored() != null) {
      write(stored);
    }
  }

  @Override
  public void count(Entry entry, long matches) {
    write(RowFactory.create(entry.row(), matches));
  }

  private Row stored() {
    if (!read) {
      stored = state.get();
      read = true;
    }
    return stored;
  }

  private void write(Row row) {
    state.update(row);
    stored = row;
    read = true;
  }
}
