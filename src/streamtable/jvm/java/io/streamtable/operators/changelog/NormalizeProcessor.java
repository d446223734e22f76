package io.streamtable.operators.changelog;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.Values;
import io.streamtable.operators.state.ExpiringState;
import io.streamtable.operators.state.OrderedValue;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads upserts and deletes of one key, and emits its full changelog: at most one change per batch.
 *
 * <p>Input rows are (row kind, columns..., Kafka partition, offset). A shuffle does not preserve
 * order, so the processor uses the row of the greatest position. State "last" (layout v1): the
 * current row of the key. If state expires, the processor also emits unchanged rows, so that the
 * state of downstream operators does not expire before its own state.
 */
public final class NormalizeProcessor extends RowProcessor {
  private final StructType rowSchema;
  private final boolean before;
  private final boolean positions;
  private final long ttl;
  private transient ValueState<Row> last;

  /**
   * @param rowDdl the columns, without row kind and position
   * @param before whether to emit update-before rows
   * @param positions whether a change ends with the position of its record
   * @param ttl see {@link ExpiringState#of}
   */
  public NormalizeProcessor(String rowDdl, boolean before, boolean positions, long ttl) {
    this.rowSchema = StructType.fromDDL(rowDdl);
    this.before = before;
    this.positions = positions;
    this.ttl = ttl;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    last =
        OrderedValue.of(
            ExpiringState.of(getHandle(), ttl)
                .getValueState("last", Plain.row(rowSchema), TTLConfig.NONE()));
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    Row newest = newest(input);
    Row old = last.get();
    List<Row> output = new ArrayList<>(2);
    if (RowKind.sign(newest.getByte(RowKind.POSITION)) < 0) {
      if (old != null) {
        last.clear();
        output.add(changed(RowKind.DELETE, old, newest));
      }
    } else {
      Row now = columns(newest);
      if (old == null) {
        output.add(changed(RowKind.INSERT, now, newest));
      } else if (ttl > 0 || !same(old, now)) {
        if (before) {
          output.add(changed(RowKind.UPDATE_BEFORE, old, newest));
        }
        output.add(changed(RowKind.UPDATE_AFTER, now, newest));
      }
      if (!output.isEmpty()) {
        last.update(now);
      }
    }
    return CollectionConverters.asScala(output.iterator());
  }

  private Row newest(scala.collection.Iterator<Row> input) {
    Row newest = input.next();
    while (input.hasNext()) {
      Row row = input.next();
      if (isLater(row, newest)) {
        newest = row;
      }
    }
    return newest;
  }

  private boolean isLater(Row row, Row other) {
    int partition = 1 + rowSchema.length();
    int order = Integer.compare(row.getInt(partition), other.getInt(partition));
    return order != 0 ? order > 0 : row.getLong(partition + 1) > other.getLong(partition + 1);
  }

  private Row columns(Row row) {
    Object[] columns = new Object[rowSchema.length()];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = row.get(i + 1);
    }
    return RowFactory.create(columns);
  }

  private Row changed(byte kind, Row row, Row newest) {
    int end = 1 + rowSchema.length();
    Object[] columns = new Object[positions ? end + 2 : end];
    columns[RowKind.POSITION] = kind;
    for (int i = 0; i < rowSchema.length(); i++) {
      columns[i + 1] = row.get(i);
    }
    for (int i = end; i < columns.length; i++) {
      columns[i] = newest.get(i);
    }
    return RowFactory.create(columns);
  }

  private boolean same(Row left, Row right) {
    for (int i = 0; i < rowSchema.length(); i++) {
      if (!Values.same(left.get(i), right.get(i))) {
        return false;
      }
    }
    return true;
  }
}
