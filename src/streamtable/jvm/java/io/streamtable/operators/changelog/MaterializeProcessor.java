package io.streamtable.operators.changelog;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.row.InexactRetractions;
import io.streamtable.operators.row.NetRows;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.row.RowValue;
import io.streamtable.operators.row.Values;
import io.streamtable.operators.state.ExpiringState;
import io.streamtable.operators.state.OrderedValue;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads additions and retractions of one key's rows, and emits upserts and deletes.
 *
 * <p>With an order, the changes of a batch are applied one by one, as in Flink's
 * SinkUpsertMaterializer. A row may be retracted before it is added, since retractions by a join
 * have no position; the addition is then dropped. Change events have positions, and retract rows from
 * before the first event; these retractions are ignored. Without an order, the net changes are applied.
 *
 * <p>If the key is a key of the query, there is at most one row between two batches, and no order is
 * needed. While rows arrive one at a time, a new row may arrive before the retraction of the old
 * row. A retraction may differ from its row, for example in the result of CURRENT_TIMESTAMP; the row
 * with its key in the query is then removed, as in Flink.
 *
 * <p>State (layout v1): "rows", the current rows in arrival order; the last one is the visible row.
 */
public final class MaterializeProcessor extends RowProcessor {
  private final StructType stateSchema;
  private final int length;
  private final RowOrder order;
  private final boolean unique;
  private final boolean begins;
  private final int[] rowKey;
  private final long ttl;
  private transient ValueState<Row> rows;

  /**
   * @param rowDdl the columns without the row kind
   * @param order order in which the changes of a batch are applied
   * @param unique whether the key is a key of the query
   * @param begins see {@link MaterializeOperator}
   * @param rowKey positions of a unique key of the rows; null if there is none
   * @param ttl see {@link ExpiringState#of}
   */
  MaterializeProcessor(
      String rowDdl, RowOrder order, boolean unique, boolean begins, int[] rowKey, long ttl) {
    this.order = order;
    this.unique = unique;
    this.begins = begins;
    this.rowKey = rowKey;
    this.ttl = ttl;
    StructType row = StructType.fromDDL(rowDdl);
    this.length = row.length();
    this.stateSchema = new StructType().add("rows", DataTypes.createArrayType(row));
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    rows =
        OrderedValue.of(
            ExpiringState.of(getHandle(), ttl)
                .getValueState("rows", Plain.row(stateSchema), TTLConfig.NONE()));
  }

  @Override
  public boolean takesBundles() {
    return unique || order.hasColumns();
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    List<Row> live = load();
    Row old = last(live);
    List<Row> changes = new ArrayList<>();
    CollectionConverters.asJava(input).forEachRemaining(changes::add);
    changes.sort(this::compare);
    if (order.hasColumns() && !unique) {
      applyEach(live, changes);
    } else {
      applyNet(live, changes);
    }
    store(live);
    return CollectionConverters.asScala(output(old, last(live)).iterator());
  }

  /** Of one position, retractions come first: they are about rows from before its record. */
  private int compare(Row left, Row right) {
    int byOrder = order.byColumns(left, right);
    if (byOrder != 0) {
      return byOrder;
    }
    int bySign = Integer.compare(sign(left), sign(right));
    return bySign != 0 ? bySign : order.compare(left, right);
  }

  private void applyEach(List<Row> live, List<Row> changes) {
    List<Row> owed = new ArrayList<>();
    for (Row change : changes) {
      Row row = columns(change);
      if (sign(change) > 0) {
        if (!remove(owed, row)) {
          live.add(row);
        }
      } else if (!remove(live, row) && !removeByKey(live, row) && !begins) {
        owed.add(row);
      }
    }
  }

  private void applyNet(List<Row> live, List<Row> rows) {
    NetRows changes = new NetRows(false, begins);
    rows.forEach(row -> changes.add(columns(row), sign(row)));
    InexactRetractions inexact = new InexactRetractions(rowKey);
    changes.addReturned(row -> copies(live, row), inexact);
    changes.additionsFirst(
        (row, by) -> {
          for (long i = 0; i < by; i++) {
            live.add(row);
          }
          for (long i = by; i < 0; i++) {
            if (!remove(live, row)) {
              inexact.add(row, 1);
            }
          }
        });
    if (!inexact.isEmpty()) {
      live.forEach(row -> inexact.offer(row, 1));
      inexact.resolve(changes, (row, by) -> remove(live, row));
    }
  }

  private List<Row> output(Row old, Row now) {
    if (now == null) {
      return old == null ? List.of() : List.of(changed(RowKind.DELETE, old));
    }
    if (old == null) {
      return List.of(changed(RowKind.INSERT, now));
    }
    return Values.same(old, now) ? List.of() : List.of(changed(RowKind.UPDATE_AFTER, now));
  }

  private static int sign(Row change) {
    return RowKind.sign(change.getByte(RowKind.POSITION));
  }

  private static long copies(List<Row> rows, Row wanted) {
    return rows.stream().filter(row -> Values.same(row, wanted)).count();
  }

  /** Removes the first row that equals a row. Returns whether there was one. */
  private static boolean remove(List<Row> rows, Row wanted) {
    return removeFirst(rows, row -> Values.same(row, wanted));
  }

  private boolean removeByKey(List<Row> rows, Row wanted) {
    if (rowKey == null) {
      return false;
    }
    Row key = RowValue.columns(wanted, rowKey);
    return removeFirst(rows, row -> Values.same(RowValue.columns(row, rowKey), key));
  }

  private static boolean removeFirst(List<Row> rows, Predicate<Row> test) {
    for (int i = 0; i < rows.size(); i++) {
      if (test.test(rows.get(i))) {
        rows.remove(i);
        return true;
      }
    }
    return false;
  }

  private List<Row> load() {
    Row stored = rows.get();
    return stored == null ? new ArrayList<>() : new ArrayList<>(stored.<Row>getList(0));
  }

  private void store(List<Row> live) {
    if (live.isEmpty()) {
      rows.clear();
    } else {
      rows.update(RowFactory.create((Object) live.toArray(new Row[0])));
    }
  }

  private static Row last(List<Row> live) {
    return live.isEmpty() ? null : live.get(live.size() - 1);
  }

  private Row columns(Row row) {
    Object[] columns = new Object[length];
    for (int i = 0; i < length; i++) {
      columns[i] = row.get(1 + i);
    }
    return RowFactory.create(columns);
  }

  private Row changed(byte kind, Row row) {
    Object[] columns = new Object[1 + length];
    columns[RowKind.POSITION] = kind;
    for (int i = 0; i < length; i++) {
      columns[1 + i] = row.get(i);
    }
    return RowFactory.create(columns);
  }
}
