package io.streamtable.operators;

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

/** One row per join key. State (layout v1): (row, matches). */
final class SingleSide implements JoinSide {
  private final StructType schema;
  private transient ValueState<Row> state;

  SingleSide(StructType row) {
    this.schema = new StructType().add("row", row).add("matches", DataTypes.LongType);
  }

  @Override
  public void open(StatefulProcessorHandle handle, String name) {
    state = handle.getValueState(name, Plain.row(schema), TTLConfig.NONE());
  }

  @Override
  public boolean isEmpty() {
    return !state.exists();
  }

  @Override
  public Iterator<Entry> entries() {
    Row stored = state.get();
    return stored == null
        ? Collections.emptyIterator()
        : List.of(new Entry(stored.getStruct(0), 1, stored.getLong(1))).iterator();
  }

  @Override
  public Row find(Row row) {
    Row stored = state.get();
    return stored == null ? null : stored.getStruct(0);
  }

  @Override
  public void add(Row row, long by, long matches) {
    state.update(RowFactory.create(row, matches));
  }

  @Override
  public long remove(Row row, long by) {
    Row stored = state.get();
    if (stored == null) {
      return 0;
    }
    // Where another row stands, it has replaced this one within the batch.
    if (Values.same(stored.getStruct(0), row)) {
      state.clear();
    }
    return by;
  }

  @Override
  public void refresh(Row row) {
    Row stored = state.get();
    if (stored != null) {
      state.update(stored);
    }
  }

  @Override
  public void count(Entry entry, long matches) {
    state.update(RowFactory.create(entry.row(), matches));
  }
}
