package io.streamtable.operators.join;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.state.EventTimers;
import io.streamtable.operators.state.Lateness;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Joins the rows of two append-only inputs whose event times are within an interval.
 *
 * <p>Input rows are (row kind, key columns..., left STRUCT, right STRUCT, event time in
 * milliseconds). State (layout v1): "left" and "right", event time -> the rows of a side, each with
 * a flag whether it has matched. A row is kept until the watermark passes the last event time that
 * a match may have. A row that arrives later still joins the rows in state. A row that has waited
 * for the watermark itself arrives when the watermark has passed it. It is kept until the end of the
 * batch, because its match may have waited as well. A row that the watermark passes in the batch of
 * its arrival is not written.
 */
public final class IntervalJoinProcessor extends RowProcessor {
  /**
   * The specification of the join.
   *
   * @param leftAt position of the left row in input rows
   * @param from minimum of left event time minus right event time, in milliseconds
   * @param to maximum of that difference, in milliseconds
   * @param condition condition of pairs in addition to equal keys; null for none
   * @param leftLate defines which left rows are late
   */
  record Spec(
      StructType left,
      StructType right,
      int leftAt,
      JoinKind kind,
      long from,
      long to,
      PairCondition condition,
      Lateness leftLate,
      Lateness rightLate)
      implements java.io.Serializable {}

  private final Spec spec;
  private final TimedSide lefts;
  private final TimedSide rights;

  IntervalJoinProcessor(Spec spec) {
    this.spec = spec;
    this.lefts = new TimedSide(spec.left);
    this.rights = new TimedSide(spec.right);
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    lefts.open(getHandle(), "left");
    rights.open(getHandle(), "right");
    if (spec.condition != null) {
      spec.condition.open();
    }
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    // NULL equals nothing.
    boolean meets = IntStream.range(0, key.length()).noneMatch(key::isNullAt);
    List<Row> output = new ArrayList<>();
    lefts.begin();
    rights.begin();
    while (input.hasNext()) {
      Row row = input.next();
      boolean left = !row.isNullAt(spec.leftAt);
      Row own = row.getStruct(left ? spec.leftAt : spec.leftAt + 1);
      long moment = row.getLong(spec.leftAt + 2);
      boolean met = meets && meet(left, own, moment, output);
      long last = last(left, moment);
      TimedSide side = left ? lefts : rights;
      Lateness lateness = left ? spec.leftLate : spec.rightLate;
      if (lateness.isComplete(last, timers)) {
        side.pass(moment, own, met);
      } else if (!lateness.isLate(last, timers)) {
        side.add(moment, own, met);
        EventTimers.register(getHandle(), last);
      } else if (!met) {
        unmatched(left, own, output);
      }
    }
    lefts.write();
    rights.write();
    unmatched(true, lefts.passing(), output);
    unmatched(false, rights.passing(), output);
    return CollectionConverters.asScala(output.iterator());
  }

  /** Returns the last event time that a match of a row may have. */
  private long last(boolean left, long moment) {
    return left ? moment - spec.from : moment + spec.to;
  }

  /** Joins a row with the rows of the other side. Returns whether there was a match. */
  private boolean meet(boolean left, Row own, long moment, List<Row> output) {
    TimedSide side = left ? rights : lefts;
    long first = left ? moment - spec.to : moment + spec.from;
    boolean met = false;
    if (spec.condition != null) {
      spec.condition.fix(left, own);
    }
    for (TimedSide.Moment others : side.between(first, last(left, moment))) {
      for (int i = 0; i < others.rows().size(); i++) {
        Row other = others.rows().get(i).getStruct(0);
        if (spec.condition == null || spec.condition.holds(left, other)) {
          met = true;
          others.match(i);
          emit(left ? own : other, left ? other : own, output);
        }
      }
    }
    return met;
  }

  @Override
  public scala.collection.Iterator<Row> handleExpiredTimer(
      Row key, TimerValues timers, ExpiredTimerInfo timer) {
    List<Row> output = new ArrayList<>();
    long watermark = EventTimers.watermark(timers);
    expire(true, watermark, output);
    expire(false, watermark, output);
    return CollectionConverters.asScala(output.iterator());
  }

  private void expire(boolean left, long watermark, List<Row> output) {
    TimedSide side = left ? lefts : rights;
    long newest = left ? watermark + spec.from : watermark - spec.to;
    side.begin();
    unmatched(left, side.take(newest), output);
  }

  private void unmatched(boolean left, Collection<TimedSide.Moment> moments, List<Row> output) {
    for (TimedSide.Moment moment : moments) {
      for (Row kept : moment.rows()) {
        if (!kept.getBoolean(1)) {
          unmatched(left, kept.getStruct(0), output);
        }
      }
    }
  }

  private void unmatched(boolean left, Row row, List<Row> output) {
    if (spec.kind.keepsUnmatched(left)) {
      emit(left ? row : null, left ? null : row, output);
    }
  }

  private void emit(Row left, Row right, List<Row> output) {
    Row joined = JoinOutput.joined(left, right, spec.left.length(), spec.right.length());
    output.add(RowKind.with(RowKind.INSERT, joined));
  }
}
