package io.streamtable.operators.join.side;

import io.streamtable.operators.row.Plain;
import io.streamtable.operators.state.OrderedValue;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** One row per join key, which is read once. State (layout v1): (row, matches). */
final class StoredRow extends SingleSide implements StoredSide {
  private final StructType schema;
  private transient ValueState<Row> state;
  private transient boolean read;
  /** The content of the state after a read or write; null for none. */
  private transient Row content;

  StoredRow(StructType row) {
    this.schema = new StructType().add("row", row).add("matches", DataTypes.LongType);
  }

  @Override
  public void open(StatefulProcessorHandle handle, String name) {
    state = OrderedValue.of(handle.getValueState(name, Plain.row(schema), TTLConfig.NONE()));
  }

  @Override
  public void begin() {
    read = false;
  }

  @Override
  Row stored() {
    Row found = content();
    return found == null ? null : found.getStruct(0);
  }

  @Override
  long matches() {
    return content().getLong(1);
  }

  @Override
  void store(Row row, long matches) {
    content = RowFactory.create(row, matches);
    read = true;
    state.update(content);
  }

  @Override
  void clear() {
    content = null;
    read = true;
    state.clear();
  }

  private Row content() {
    if (!read) {
      content = state.get();
      read = true;
    }
    return content;
  }
}
