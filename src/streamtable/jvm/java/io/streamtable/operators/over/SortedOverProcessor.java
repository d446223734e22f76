package io.streamtable.operators.over;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.aggregate.Aggregation;
import io.streamtable.operators.aggregate.HeapAggregates;
import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.InexactRetractions;
import io.streamtable.operators.row.NetRows;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.row.RowValue;
import io.streamtable.operators.row.Values;
import io.streamtable.operators.state.ExpiringState;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads changes of one partition's rows, and emits changes of these rows with the aggregates over
 * the rows up to them.
 *
 * <p>An insert or delete changes the aggregates of all later rows, so the state has all rows and
 * they are aggregated again. State (layout v1): "rows", each row -> its count; the rows of a
 * partition expire together.
 */
public final class SortedOverProcessor extends RowProcessor {
  private final StructType schema;
  private final List<Aggregation> calls;
  private final RowOrder order;
  private final int peersBy;
  private final boolean begins;
  private final int[] rowKey;
  private final int[] outputKey;
  private final boolean before;
  private final long ttl;
  private transient MapState<Row, Long> rows;

  /**
   * @param schema schema of the columns without the row kind
   * @param peersBy position of the column whose equal values share a result (RANGE); below 0 if
   *     each row has its own result (ROWS)
   * @param begins see {@link SortedOverOperator}
   * @param rowKey positions of a unique key of the rows; null if there is none
   * @param outputKey positions, or null; see {@link NetRows#changes}
   * @param ttl see {@link ExpiringState#of}
   */
  SortedOverProcessor(
      StructType schema,
      List<Aggregation> calls,
      RowOrder order,
      int peersBy,
      boolean begins,
      int[] rowKey,
      int[] outputKey,
      boolean before,
      long ttl) {
    this.schema = schema;
    this.calls = calls;
    this.order = order;
    this.peersBy = peersBy;
    this.begins = begins;
    this.rowKey = rowKey;
    this.outputKey = outputKey;
    this.before = before;
    this.ttl = ttl;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    rows =
        ExpiringState.of(getHandle(), ttl)
            .getMapState("rows", Plain.row(schema), DirectEncoder.longs(), TTLConfig.NONE());
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    NetRows changes = new NetRows(false, begins);
    while (input.hasNext()) {
      Row row = input.next();
      int sign = RowKind.sign(row.getByte(RowKind.POSITION));
      changes.add(RowValue.slice(row, 1, row.length()), sign);
    }
    NetRows output = new NetRows();
    emit(output, -1);
    InexactRetractions inexact = new InexactRetractions(rowKey);
    changes.addReturned(this::copies, inexact);
    changes.additionsFirst((row, by) -> change(row, by, inexact));
    if (!inexact.isEmpty()) {
      rows.iterator()
          .foreach(
              entry -> {
                inexact.offer(entry._1(), entry._2());
                return null;
              });
      inexact.resolve(changes, (row, by) -> change(row, by, inexact));
    }
    emit(output, 1);
    if (ttl > 0) {
      renew();
    }
    return CollectionConverters.asScala(output.changes(outputKey, before).iterator());
  }

  /**
   * Writes every row again, so that no row expires before later rows whose results depend on it.
   */
  private void renew() {
    CollectionConverters.asJava(rows.iterator().toSeq())
        .forEach(entry -> rows.updateValue(entry._1(), entry._2()));
  }

  private void change(Row row, long by, InexactRetractions inexact) {
    long stored = copies(row);
    long count = stored + by;
    if (count > 0) {
      rows.updateValue(row, count);
    } else if (stored > 0) {
      rows.removeKey(row);
    }
    if (count < 0) {
      inexact.add(row, -count);
    }
  }

  /** Returns how often a row is stored. */
  private long copies(Row row) {
    Long stored = rows.getValue(row);
    return stored == null ? 0 : stored;
  }

  /** Adds the rows with their aggregates to the output, or retracts them. */
  private void emit(NetRows output, int sign) {
    HeapAggregates aggregates = new HeapAggregates(calls, false);
    List<Row> all = sorted();
    int next = 0;
    while (next < all.size()) {
      int first = next;
      do {
        aggregates.add(RowKind.with(RowKind.INSERT, all.get(next)), 1);
        next++;
      } while (next < all.size() && peers(all.get(first), all.get(next)));
      Object[] results = aggregates.results();
      for (Row row : all.subList(first, next)) {
        output.add(OverFrame.result(row, results), sign);
      }
    }
  }

  private List<Row> sorted() {
    List<Row> all = new ArrayList<>();
    scala.collection.Iterator<Tuple2<Row, Long>> entries = rows.iterator();
    while (entries.hasNext()) {
      Tuple2<Row, Long> entry = entries.next();
      for (long copy = 0; copy < entry._2(); copy++) {
        all.add(entry._1());
      }
    }
    all.sort(order);
    return all;
  }

  private boolean peers(Row one, Row other) {
    return peersBy >= 0 && Values.same(one.get(peersBy), other.get(peersBy));
  }
}
