package io.streamtable.operators.join.temporal;

import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.state.EventTimers;
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

/**
 * Append-only left rows of a temporal join. State (layout v1): "waiting", event time -> rows that
 * the watermark has not passed.
 */
final class AppendedLeft implements TemporalLeft {
  private final StructType left;
  private final VersionedPair pair;
  private transient StatefulProcessorHandle handle;
  private transient MapState<Long, Row> waiting;

  AppendedLeft(StructType left, VersionedPair pair) {
    this.left = left;
    this.pair = pair;
  }

  @Override
  public void open(StatefulProcessorHandle handle) {
    this.handle = handle;
    StructType rows = new StructType().add("rows", DataTypes.createArrayType(left));
    waiting =
        handle.getMapState("waiting", DirectEncoder.longs(), Plain.row(rows), TTLConfig.NONE());
  }

  @Override
  public void add(byte kind, long moment, Row row) {
    Row stored = waiting.getValue(moment);
    List<Row> rows = stored == null ? new ArrayList<>() : new ArrayList<>(stored.getList(0));
    rows.add(row);
    waiting.updateValue(moment, RowFactory.create((Object) rows.toArray(new Row[0])));
    EventTimers.register(handle, moment);
  }

  @Override
  public void complete(TimerValues timers) {}

  @Override
  public boolean waits() {
    return waiting.keys().hasNext();
  }

  @Override
  public List<Long> passed(long watermark) {
    return TemporalLeft.passed(waiting, watermark);
  }

  @Override
  public List<Row> emit(List<Long> moments, Versions versions, TimerValues timers) {
    List<Row> output = new ArrayList<>();
    for (Long moment : moments) {
      Row version = versions.at(moment);
      for (Object row : waiting.getValue(moment).getList(0)) {
        Row joined = pair.joined((Row) row, version);
        if (joined != null) {
          output.add(RowKind.with(RowKind.INSERT, joined));
        }
      }
      waiting.removeKey(moment);
    }
    return output;
  }
}
