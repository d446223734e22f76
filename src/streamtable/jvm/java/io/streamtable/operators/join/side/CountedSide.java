package io.streamtable.operators.join.side;

import io.streamtable.operators.row.Plain;
import io.streamtable.operators.state.KnownGroups;
import java.util.Iterator;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/** Rows without a key, with a count of equal rows. State (layout v1): row -> (count, matches). */
final class CountedSide implements StoredSide {
  private static final StructType VALUE =
      new StructType().add("count", DataTypes.LongType).add("matches", DataTypes.LongType);

  private final StructType schema;
  private transient MapState<Row, Row> state;
  private transient boolean allNew;

  CountedSide(StructType row) {
    this.schema = row;
  }

  @Override
  public void open(StatefulProcessorHandle handle, String name) {
    state =
        KnownGroups.of(
            handle.getMapState(name, Plain.row(schema), Plain.row(VALUE), TTLConfig.NONE()));
  }

  @Override
  public void begin() {
    allNew = false;
  }

  @Override
  public boolean looksForAdded() {
    return true;
  }

  @Override
  public void allNew() {
    allNew = true;
  }

  @Override
  public boolean isEmpty() {
    return !state.exists();
  }

  @Override
  public Iterator<Entry> entries() {
    return CollectionConverters.asJava(
        state
            .iterator()
            .map(entry -> new Entry(entry._1(), entry._2().getLong(0), entry._2().getLong(1))));
  }

  @Override
  public long copies(Row row) {
    return count(state.getValue(row));
  }

  @Override
  public void add(Row row, long by, long matches) {
    long before = allNew ? 0 : copies(row);
    state.updateValue(row, RowFactory.create(before + by, matches));
  }

  @Override
  public long remove(Row row, long by) {
    Row stored = state.getValue(row);
    long before = count(stored);
    if (before > by) {
      state.updateValue(row, RowFactory.create(before - by, stored.getLong(1)));
    } else if (before > 0) {
      state.removeKey(row);
    }
    return Math.min(before, by);
  }

  @Override
  public void refresh(Row row) {
    Row stored = state.getValue(row);
    if (stored != null) {
      state.updateValue(row, stored);
    }
  }

  @Override
  public void count(Entry entry, long matches) {
    state.updateValue(entry.row(), RowFactory.create(entry.count(), matches));
  }

  private static long count(Row stored) {
    return stored == null ? 0 : stored.getLong(0);
  }
}
