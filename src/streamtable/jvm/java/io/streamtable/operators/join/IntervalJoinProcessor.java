package io.streamtable.operators.join;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.state.EventTimers;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Joins the rows of two append-only inputs whose event times are within an interval.
 *
 * <p>Input rows are (row kind, key columns..., left STRUCT, right STRUCT, event time in
 * milliseconds). State (layout v1): "left" and "right", event time -> the rows of a side, each with
 * a flag whether it has matched. A row is kept until the watermark passes the last event time that
 * a match may have. A row that arrives later still joins the rows in state.
 */
public final class IntervalJoinProcessor extends RowProcessor {
  /**
   * The specification of the join.
   *
   * @param leftAt position of the left row in input rows
   * @param from minimum of left event time minus right event time, in milliseconds
   * @param to maximum of that difference, in milliseconds
   * @param condition condition of pairs in addition to equal keys; null for none
   */
  record Spec(
      StructType left,
      StructType right,
      int leftAt,
      JoinKind kind,
      long from,
      long to,
      PairCondition condition)
      implements java.io.Serializable {}

  private final Spec spec;
  private transient MapState<Long, Row> lefts;
  private transient MapState<Long, Row> rights;

  IntervalJoinProcessor(Spec spec) {
    this.spec = spec;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    lefts = open("left", spec.left);
    rights = open("right", spec.right);
    if (spec.condition != null) {
      spec.condition.open();
    }
  }

  private MapState<Long, Row> open(String name, StructType row) {
    StructType kept = new StructType().add("row", row).add("met", DataTypes.BooleanType);
    StructType rows = new StructType().add("rows", DataTypes.createArrayType(kept));
    return getHandle().getMapState(name, Encoders.LONG(), Plain.row(rows), TTLConfig.NONE());
  }

  @Override
  public scala.collection.Iterator<Row> handleInputRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    long watermark = EventTimers.watermark(timers);
    // NULL equals nothing.
    boolean meets = IntStream.range(0, key.length()).noneMatch(key::isNullAt);
    List<Row> output = new ArrayList<>();
    while (input.hasNext()) {
      Row row = input.next();
      boolean left = !row.isNullAt(spec.leftAt);
      Row own = row.getStruct(left ? spec.leftAt : spec.leftAt + 1);
      long moment = row.getLong(spec.leftAt + 2);
      boolean met = meets && meet(left, own, moment, output);
      long last = last(left, moment);
      if (last > watermark) {
        keep(left ? lefts : rights, moment, own, met);
        EventTimers.register(getHandle(), last);
      } else if (!met) {
        unmatched(left, own, output);
      }
    }
    return CollectionConverters.asScala(output.iterator());
  }

  /** Returns the last event time that a match of a row may have. */
  private long last(boolean left, long moment) {
    return left ? moment - spec.from : moment + spec.to;
  }

  /** Joins a row with the rows of the other side. Returns whether there was a match. */
  private boolean meet(boolean left, Row own, long moment, List<Row> output) {
    MapState<Long, Row> others = left ? rights : lefts;
    long first = left ? moment - spec.to : moment + spec.from;
    long last = last(left, moment);
    boolean met = false;
    if (spec.condition != null) {
      spec.condition.fix(left, own);
    }
    for (Tuple2<Long, Row> entry : entries(others, first, last)) {
      List<Row> kept = new ArrayList<>(entry._2().getList(0));
      boolean changed = false;
      for (int i = 0; i < kept.size(); i++) {
        Row other = kept.get(i).getStruct(0);
        if (spec.condition == null || spec.condition.holds(left, other)) {
          met = true;
          changed |= !kept.get(i).getBoolean(1);
          kept.set(i, RowFactory.create(other, true));
          emit(left ? own : other, left ? other : own, output);
        }
      }
      if (changed) {
        others.updateValue(entry._1(), RowFactory.create((Object) kept.toArray(new Row[0])));
      }
    }
    return met;
  }

  private static List<Tuple2<Long, Row>> entries(MapState<Long, Row> rows, long first, long last) {
    List<Tuple2<Long, Row>> found = new ArrayList<>();
    scala.collection.Iterator<Tuple2<Long, Row>> entries = rows.iterator();
    while (entries.hasNext()) {
      Tuple2<Long, Row> entry = entries.next();
      if (first <= entry._1() && entry._1() <= last) {
        found.add(entry);
      }
    }
    return found;
  }

  private static void keep(MapState<Long, Row> rows, long moment, Row row, boolean met) {
    Row stored = rows.getValue(moment);
    List<Row> kept = stored == null ? new ArrayList<>() : new ArrayList<>(stored.getList(0));
    kept.add(RowFactory.create(row, met));
    rows.updateValue(moment, RowFactory.create((Object) kept.toArray(new Row[0])));
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
    MapState<Long, Row> rows = left ? lefts : rights;
    long newest = left ? watermark + spec.from : watermark - spec.to;
    for (Tuple2<Long, Row> entry : entries(rows, Long.MIN_VALUE, newest)) {
      for (Object kept : entry._2().getList(0)) {
        if (!((Row) kept).getBoolean(1)) {
          unmatched(left, ((Row) kept).getStruct(0), output);
        }
      }
      rows.removeKey(entry._1());
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
