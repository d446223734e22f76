package io.streamtable.operators.rank;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.InexactRetractions;
import io.streamtable.operators.row.NetRows;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.Values;
import io.streamtable.operators.state.ExpiringState;
import io.streamtable.operators.state.OrderedValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads changes of one partition's rows, and emits changes of its first rows.
 *
 * <p>State (layout v2): "top", the first rows in order; "rest", every other row -> its count.
 * Append-only input needs no rest. With retractions, the rows after a removed row move up: "top"
 * holds up to twice as many rows as are visible, so that "rest" is searched only rarely. A retraction
 * of a row that is not stored removes the row with its key; see {@link InexactRetractions}.
 */
public final class TopNProcessor extends RowProcessor {
  private final TopNSpec spec;
  private final int capacity;
  private transient ValueState<Row> top;
  private transient MapState<Row, Long> rest;

  TopNProcessor(TopNSpec spec) {
    this.spec = spec;
    this.capacity = spec.retracting() ? 2 * spec.end() : spec.end();
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    StructType schema = new StructType().add("rows", DataTypes.createArrayType(spec.row()));
    StatefulProcessorHandle handle = ExpiringState.of(getHandle(), spec.ttl());
    top = OrderedValue.of(handle.getValueState("top", Plain.row(schema), TTLConfig.NONE()));
    if (spec.retracting()) {
      rest =
          handle.getMapState(
              "rest", Plain.row(spec.row()), DirectEncoder.longs(), TTLConfig.NONE());
    }
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    Row stored = top.get();
    List<Row> before = stored == null ? List.of() : stored.getList(0);
    List<Row> rows = new ArrayList<>(before);
    if (spec.retracting()) {
      change(rows, input);
    } else {
      while (input.hasNext()) {
        add(rows, columns(input.next()));
      }
    }
    boolean same = isSame(before, rows);
    if (rows.isEmpty()) {
      top.clear();
    } else if (!same || spec.ttl() > 0) {
      top.update(RowFactory.create((Object) rows.toArray(new Row[0])));
    }
    List<Row> output = same ? List.of() : changes(before, rows);
    return CollectionConverters.asScala(output.iterator());
  }

  /** Returns whether the same rows have the same ranks. */
  private static boolean isSame(List<Row> before, List<Row> rows) {
    boolean same = before.size() == rows.size();
    for (int i = 0; same && i < rows.size(); i++) {
      same = before.get(i) == rows.get(i);
    }
    return same;
  }

  private void change(List<Row> rows, scala.collection.Iterator<Row> input) {
    NetRows changes = new NetRows(false, spec.begins());
    while (input.hasNext()) {
      Row row = input.next();
      changes.add(columns(row), RowKind.sign(row.getByte(RowKind.POSITION)));
    }
    InexactRetractions inexact = new InexactRetractions(spec.rowKey());
    changes.addReturned(row -> copies(rows, row), inexact);
    changes.additionsFirst((row, by) -> apply(rows, row, by, inexact));
    if (!inexact.isEmpty()) {
      rows.forEach(row -> inexact.offer(row, 1));
      CollectionConverters.asJava(rest.iterator())
          .forEachRemaining(entry -> inexact.offer(entry._1(), entry._2()));
      inexact.resolve(changes, (row, by) -> remove(rows, row));
    }
    if (rows.size() < spec.end()) {
      refill(rows);
    }
  }

  private List<Row> changes(List<Row> before, List<Row> rows) {
    if (before.isEmpty()) {
      List<Row> inserts = new ArrayList<>();
      seen(rows, row -> inserts.add(NetRows.changed(RowKind.INSERT, row)));
      return inserts;
    }
    NetRows output = new NetRows();
    seen(before, row -> output.add(row, -1));
    seen(rows, row -> output.add(row, 1));
    return output.changes(spec.outputKey(), spec.before());
  }

  private void apply(List<Row> rows, Row row, long by, InexactRetractions inexact) {
    for (long i = 0; i < by; i++) {
      add(rows, row);
    }
    for (long i = by; i < 0; i++) {
      if (!remove(rows, row)) {
        inexact.add(row, 1);
      }
    }
  }

  private void add(List<Row> rows, Row row) {
    boolean later = rows.isEmpty() || spec.order().compare(row, rows.get(rows.size() - 1)) >= 0;
    if (later && spec.retracting() && rest.exists()) {
      count(row, 1);
      return;
    }
    int found = Collections.binarySearch(rows, row, spec.order());
    rows.add(found < 0 ? -1 - found : found, row);
    if (rows.size() > capacity) {
      Row last = rows.remove(rows.size() - 1);
      if (spec.retracting()) {
        count(last, 1);
      }
    }
  }

  /** Removes one copy of a row. Returns whether there was one. */
  private boolean remove(List<Row> rows, Row row) {
    int found = Collections.binarySearch(rows, row, spec.order());
    if (found >= 0) {
      rows.remove(found);
      return true;
    }
    return count(row, -1);
  }

  /** Returns how often a row is stored. */
  private long copies(List<Row> rows, Row row) {
    Long stored = rest.getValue(row);
    long copies = rows.stream().filter(top -> Values.same(top, row)).count();
    return stored == null ? copies : copies + stored;
  }

  /** Changes the count of a row in the rest. Returns whether it was there. */
  private boolean count(Row row, long by) {
    Long stored = rest.getValue(row);
    long count = (stored == null ? 0 : stored) + by;
    if (count > 0) {
      rest.updateValue(row, count);
    } else if (stored != null) {
      rest.removeKey(row);
    }
    return stored != null;
  }

  /** Moves the first rows of the rest into the top, up to its capacity. */
  private void refill(List<Row> rows) {
    int room = capacity - rows.size();
    List<Row> best = new ArrayList<>();
    scala.collection.Iterator<Tuple2<Row, Long>> entries = rest.iterator();
    while (entries.hasNext()) {
      Tuple2<Row, Long> entry = entries.next();
      if (best.size() == room && spec.order().compare(entry._1(), best.get(room - 1)) >= 0) {
        continue;
      }
      int at = Collections.binarySearch(best, entry._1(), spec.order());
      long copies = Math.min(room, entry._2());
      best.addAll(at < 0 ? -1 - at : at, Collections.nCopies((int) copies, entry._1()));
      if (best.size() > room) {
        best.subList(room, best.size()).clear();
      }
    }
    for (Row row : best) {
      count(row, -1);
    }
    rows.addAll(best);
  }

  /** Passes the visible rows, in their output form, to the consumer. */
  private void seen(List<Row> rows, Consumer<Row> taker) {
    int end = Math.min(rows.size(), spec.end());
    for (int i = spec.skip(); i < end; i++) {
      taker.accept(spec.ranked() ? ranked(rows.get(i), i + 1) : rows.get(i));
    }
  }

  private static Row ranked(Row row, long rank) {
    Object[] columns = new Object[row.length() + 1];
    for (int i = 0; i < row.length(); i++) {
      columns[i] = row.get(i);
    }
    columns[row.length()] = rank;
    return RowFactory.create(columns);
  }

  private static Row columns(Row row) {
    Object[] columns = new Object[row.length() - 1];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = row.get(1 + i);
    }
    return RowFactory.create(columns);
  }
}
