package io.streamtable.operators.join;

import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowValue;
import io.streamtable.operators.row.Values;
import java.util.Iterator;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/** Rows with a unique key. State (layout v1): the key -> (row, matches). */
final class KeyedSide implements JoinSide {
  private final int[] key;
  private final StructType keySchema;
  private final StructType valueSchema;
  private transient MapState<Row, Row> state;

  KeyedSide(StructType row, int[] key) {
    this.key = key;
    StructType columns = new StructType();
    for (int position : key) {
      columns = columns.add(row.fields()[position]);
    }
    this.keySchema = columns;
    this.valueSchema = new StructType().add("row", row).add("matches", DataTypes.LongType);
  }

  @Override
  public void open(StatefulProcessorHandle handle, String name) {
    state =
        handle.getMapState(
            name, Plain.row(keySchema), Plain.row(valueSchema), TTLConfig.NONE());
  }

  @Override
  public boolean isEmpty() {
    return !state.exists();
  }

  @Override
  public Iterator<Entry> entries() {
    return CollectionConverters.asJava(
        state.values().map(stored -> new Entry(stored.getStruct(0), 1, stored.getLong(1))));
  }

  @Override
  public Row find(Row row) {
    Row stored = state.getValue(RowValue.columns(row, key));
    return stored == null ? null : stored.getStruct(0);
  }

  @Override
  public void add(Row row, long by, long matches) {
    state.updateValue(RowValue.columns(row, key), RowFactory.create(row, matches));
  }

  @Override
  public long remove(Row row, long by) {
    Row own = RowValue.columns(row, key);
    Row stored = state.getValue(own);
    if (stored == null) {
      return 0;
    }
    // If the stored row differs, it has replaced this row within the batch.
    if (Values.same(stored.getStruct(0), row)) {
      state.removeKey(own);
    }
    return by;
  }

  @Override
  public void refresh(Row row) {
    Row own = RowValue.columns(row, key);
    Row stored = state.getValue(own);
    if (stored != null) {
      state.updateValue(own, stored);
    }
  }

  @Override
  public void count(Entry entry, long matches) {
    add(entry.row(), 1, matches);
  }
}
