package io.streamtable.operators.window;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.rank.TopNSpec;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowValue;
import io.streamtable.operators.state.EventTimers;
import io.streamtable.operators.state.Lateness;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads append-only rows of one partition of a window, and emits the first rows once, when the
 * watermark passes.
 *
 * <p>Input rows are (row kind, columns..., the window's last millisecond). State (layout v1):
 * "top", the first rows in order so far, deleted when the window fires.
 */
public final class WindowTopNProcessor extends RowProcessor {
  private final TopNSpec spec;
  private final int last;
  private final Lateness lateness;
  private transient ValueState<Row> top;

  /** @param spec specification of the columns between row kind and last millisecond */
  WindowTopNProcessor(TopNSpec spec, Lateness lateness) {
    this.spec = spec;
    this.last = 1 + spec.row().length();
    this.lateness = lateness;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    StructType schema = new StructType().add("rows", DataTypes.createArrayType(spec.row()));
    top = getHandle().getValueState("top", Plain.row(schema), TTLConfig.NONE());
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    Row stored = top.get();
    List<Row> rows = stored == null ? new ArrayList<>() : new ArrayList<>(stored.getList(0));
    Long added = null;
    while (input.hasNext()) {
      Row row = input.next();
      long moment = row.getLong(last);
      if (lateness.isLate(moment, timers)) {
        lateness.count(1);
      } else {
        added = moment;
        add(rows, RowValue.slice(row, 1, last));
      }
    }
    if (added == null) {
      return CollectionConverters.asScala(List.<Row>of().iterator());
    }
    if (lateness.isComplete(added, timers)) {
      if (stored != null) {
        EventTimers.delete(getHandle(), added);
        top.clear();
      }
      return ranked(rows);
    }
    if (stored == null) {
      EventTimers.register(getHandle(), added);
    }
    top.update(RowFactory.create((Object) rows.toArray(new Row[0])));
    return CollectionConverters.asScala(List.<Row>of().iterator());
  }

  private void add(List<Row> rows, Row row) {
    int found = Collections.binarySearch(rows, row, spec.order());
    rows.add(found < 0 ? -1 - found : found, row);
    if (rows.size() > spec.end()) {
      rows.remove(rows.size() - 1);
    }
  }

  @Override
  public scala.collection.Iterator<Row> handleExpiredTimer(
      Row key, TimerValues timers, ExpiredTimerInfo timer) {
    Row stored = top.get();
    List<Row> rows = stored == null ? List.of() : stored.getList(0);
    top.clear();
    return ranked(rows);
  }

  private scala.collection.Iterator<Row> ranked(List<Row> rows) {
    List<Row> output = new ArrayList<>();
    for (int i = spec.skip(); i < rows.size(); i++) {
      output.add(inserted(rows.get(i), i + 1));
    }
    return CollectionConverters.asScala(output.iterator());
  }

  private Row inserted(Row row, long rank) {
    Object[] columns = new Object[1 + row.length() + (spec.ranked() ? 1 : 0)];
    columns[RowKind.POSITION] = RowKind.INSERT;
    for (int i = 0; i < row.length(); i++) {
      columns[1 + i] = row.get(i);
    }
    if (spec.ranked()) {
      columns[columns.length - 1] = rank;
    }
    return RowFactory.create(columns);
  }
}
