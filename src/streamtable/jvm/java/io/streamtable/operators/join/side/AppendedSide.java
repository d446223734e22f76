package io.streamtable.operators.join.side;

import io.streamtable.operators.row.Plain;
import io.streamtable.operators.state.KnownGroups;
import java.util.Iterator;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.QueryInfo;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Rows of an append-only input without a key. State (layout AppendJoin): (batch, number) -> (row,
 * count of equal rows).
 *
 * <p>No row is ever removed, so none is looked for: each call adds its rows under new keys. A key is
 * the number of a row in its task, after a number of the query and batch. It does not repeat within
 * a join key, even if the rows were copied from the state of another query.
 */
final class AppendedSide implements StoredSide {
  private static final StructType KEY =
      new StructType().add("batch", DataTypes.LongType).add("number", DataTypes.LongType);

  private final StructType schema;
  private transient MapState<Row, Row> state;
  private transient long batch;
  private transient long number;

  AppendedSide(StructType row) {
    this.schema = new StructType().add("row", row).add("count", DataTypes.LongType);
  }

  @Override
  public void open(StatefulProcessorHandle handle, String name) {
    state =
        KnownGroups.of(
            handle.getMapState(name, Plain.row(KEY), Plain.row(schema), TTLConfig.NONE()));
    QueryInfo query = handle.getQueryInfo();
    batch = query.getQueryId().getLeastSignificantBits() + query.getBatchId();
    number = 0;
  }

  @Override
  public boolean isEmpty() {
    return !state.exists();
  }

  @Override
  public Iterator<Entry> entries() {
    return CollectionConverters.asJava(
        state.values().map(stored -> new Entry(stored.getStruct(0), stored.getLong(1), 0)));
  }

  @Override
  public long copies(Row row) {
    throw new IllegalStateException("rows that are only added are not looked for");
  }

  @Override
  public void add(Row row, long by, long matches) {
    state.updateValue(RowFactory.create(batch, number), RowFactory.create(row, by));
    number++;
  }

  @Override
  public long remove(Row row, long by) {
    throw new IllegalStateException("rows of an append-only input are not removed");
  }

  @Override
  public void refresh(Row row) {
    throw new IllegalStateException("rows of an append-only input are not retracted");
  }

  @Override
  public void count(Entry entry, long matches) {
    throw new IllegalStateException("the matches of these rows are not counted");
  }
}
