package io.streamtable.operators.join.side;

import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowValue;
import io.streamtable.operators.row.Values;
import io.streamtable.operators.state.KnownGroups;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/** Rows with a unique key. State (layout v1): the key -> (row, matches). */
final class KeyedSide implements StoredSide {
  private final int[] key;
  private final StructType keySchema;
  private final StructType valueSchema;
  private transient MapState<Row, Row> state;
  /** The content of the state for keys that this call has looked for; null for no row. */
  private transient Map<RowValue, Row> found;

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
        KnownGroups.of(
            handle.getMapState(
                name, Plain.row(keySchema), Plain.row(valueSchema), TTLConfig.NONE()));
  }

  @Override
  public void begin() {
    found = new HashMap<>();
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
    Row stored = stored(own(row));
    return stored == null ? null : stored.getStruct(0);
  }

  @Override
  public void add(Row row, long by, long matches) {
    RowValue own = own(row);
    Row stored = RowFactory.create(row, matches);
    state.updateValue(own.row(), stored);
    found.replace(own, stored);
  }

  @Override
  public long remove(Row row, long by) {
    RowValue own = own(row);
    Row stored = stored(own);
    if (stored == null) {
      return 0;
    }
    // If the stored row differs, it has replaced this row within the call: see Retractions.
    if (Values.same(stored.getStruct(0), row)) {
      state.removeKey(own.row());
      found.put(own, null);
    }
    return by;
  }

  @Override
  public void refresh(Row row) {
    RowValue own = own(row);
    Row stored = stored(own);
    if (stored != null) {
      state.updateValue(own.row(), stored);
    }
  }

  @Override
  public void count(Entry entry, long matches) {
    add(entry.row(), 1, matches);
  }

  private RowValue own(Row row) {
    return new RowValue(RowValue.columns(row, key));
  }

  private Row stored(RowValue own) {
    if (!found.containsKey(own)) {
      found.put(own, state.getValue(own.row()));
    }
    return found.get(own);
  }
}
