package io.streamtable.operators;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Added rows of one partition in; the first of them out, once, when the watermark has passed it.
 *
 * <p>Input rows are (row kind, columns..., moment in milliseconds, position...). State (layout v1):
 * "first", the first row so far; null in it once that one has come out, for ever or until its {@link
 * IdleTime} is over. Of rows of one moment the one that came first counts. Rows behind the watermark
 * are late.
 */
public final class FirstRowProcessor extends StatefulProcessor<Row, Row, Row> {
  private final StructType row;
  private final int momentAt;
  private final Comparator<Row> order;
  private final Lateness lateness;
  private final IdleTime told;
  private transient ValueState<Row> first;

  /**
   * @param row of the input
   * @param order by moment and position
   * @param ttl how long it is known that the first row has come out; see {@link IdleTime}
   */
  FirstRowProcessor(
      StructType row, int momentAt, Comparator<Row> order, Lateness lateness, long ttl) {
    this.row = row;
    this.momentAt = momentAt;
    this.order = order;
    this.lateness = lateness;
    this.told = new IdleTime(ttl);
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    StructType schema = new StructType().add("row", row, true);
    first = getHandle().getValueState("first", Plain.row(schema), TTLConfig.NONE());
    told.open(getHandle());
  }

  @Override
  public scala.collection.Iterator<Row> handleInputRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    Row best = null;
    while (input.hasNext()) {
      Row next = input.next();
      if (lateness.isLate(next.getLong(momentAt), timers)) {
        lateness.count(1);
      } else if (best == null || order.compare(next, best) < 0) {
        best = next;
      }
    }
    if (best != null) {
      offer(told.isOver(timers) ? forget() : first.get(), best);
    }
    return CollectionConverters.asScala(List.<Row>of().iterator());
  }

  private void offer(Row stored, Row best) {
    if (stored != null && (isTold(stored) || moment(stored.getStruct(0)) <= moment(best))) {
      return;
    }
    if (stored != null) {
      EventTimers.delete(getHandle(), moment(stored.getStruct(0)));
    }
    EventTimers.register(getHandle(), moment(best));
    first.update(RowFactory.create(best));
  }

  private static boolean isTold(Row stored) {
    return stored.isNullAt(0);
  }

  /** Forgets that the first row has come out. */
  private Row forget() {
    first.clear();
    told.clear();
    return null;
  }

  private long moment(Row row) {
    return row.getLong(momentAt);
  }

  @Override
  public scala.collection.Iterator<Row> handleExpiredTimer(
      Row key, TimerValues timers, ExpiredTimerInfo timer) {
    List<Row> output = new ArrayList<>(1);
    Row stored = first.get();
    if (stored == null || isTold(stored)) {
      if (told.endsAt(timers)) {
        forget();
      }
    } else if (moment(stored.getStruct(0)) <= EventTimers.watermark(timers)) {
      output.add(RowValue.slice(stored.getStruct(0), 0, momentAt));
      first.update(RowFactory.create((Object) null));
      told.use(timers);
    }
    return CollectionConverters.asScala(output.iterator());
  }
}
