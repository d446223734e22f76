package io.streamtable.operators.join;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.state.EventTimers;
import io.streamtable.operators.state.Lateness;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads rows of two append-only inputs in one window and with one join key, and emits the joined
 * rows once, when the watermark passes the window's end.
 *
 * <p>Input rows are (row kind, key columns..., left STRUCT, right STRUCT, the window's last
 * millisecond). That millisecond is also the last column of the key. State (layout v1): "left" and
 * "right", the rows of each input, deleted when the window fires. If all rows of a window arrive
 * together after the watermark has passed, they are joined without state.
 */
public final class WindowJoinProcessor extends RowProcessor {
  /**
   * The specification of the join.
   *
   * @param leftAt position of the left row in input rows
   * @param condition condition of pairs in addition to equal keys; null for none
   */
  record Spec(
      StructType left,
      StructType right,
      int leftAt,
      JoinKind kind,
      PairCondition condition,
      Lateness leftLateness,
      Lateness rightLateness)
      implements java.io.Serializable {}

  private final Spec spec;
  private transient ListState<Row> lefts;
  private transient ListState<Row> rights;

  WindowJoinProcessor(Spec spec) {
    this.spec = spec;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    lefts = getHandle().getListState("left", Plain.row(spec.left), TTLConfig.NONE());
    rights = getHandle().getListState("right", Plain.row(spec.right), TTLConfig.NONE());
    if (spec.condition != null) {
      spec.condition.open();
    }
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    long last = key.getLong(key.length() - 1);
    boolean known = lefts.exists() || rights.exists();
    List<Row> newLefts = new ArrayList<>();
    List<Row> newRights = new ArrayList<>();
    while (input.hasNext()) {
      Row row = input.next();
      boolean left = !row.isNullAt(spec.leftAt);
      Lateness lateness = left ? spec.leftLateness : spec.rightLateness;
      if (lateness.isLate(last, timers)) {
        lateness.count(1);
      } else {
        (left ? newLefts : newRights).add(row.getStruct(left ? spec.leftAt : spec.leftAt + 1));
      }
    }
    if (spec.leftLateness.isComplete(last, timers)
        && spec.rightLateness.isComplete(last, timers)) {
      if (known) {
        EventTimers.delete(getHandle(), last);
        newLefts.addAll(0, taken(lefts));
        newRights.addAll(0, taken(rights));
      }
      return joined(key, newLefts, newRights);
    }
    keep(lefts, newLefts);
    keep(rights, newRights);
    if (!known && !(newLefts.isEmpty() && newRights.isEmpty())) {
      EventTimers.register(getHandle(), last);
    }
    return CollectionConverters.asScala(List.<Row>of().iterator());
  }

  private static void keep(ListState<Row> side, List<Row> rows) {
    if (!rows.isEmpty()) {
      side.appendList(rows.toArray(new Row[0]));
    }
  }

  @Override
  public scala.collection.Iterator<Row> handleExpiredTimer(
      Row key, TimerValues timers, ExpiredTimerInfo timer) {
    return joined(key, taken(lefts), taken(rights));
  }

  private scala.collection.Iterator<Row> joined(Row key, List<Row> left, List<Row> right) {
    // NULL equals nothing.
    boolean meet = IntStream.range(0, key.length()).noneMatch(key::isNullAt);
    boolean[] met = new boolean[right.size()];
    Stream<Row> ofLeft = left.stream().flatMap(row -> joined(row, meet ? right : List.of(), met));
    Stream<Row> unmatched =
        IntStream.range(0, spec.kind.keepsUnmatched(false) ? right.size() : 0)
            .filter(i -> !met[i])
            .mapToObj(i -> pair(null, right.get(i)));
    // Lazy: a window with two large sides has more pairs than fit in memory.
    return CollectionConverters.asScala(Stream.concat(ofLeft, unmatched).iterator());
  }

  private static List<Row> taken(ListState<Row> side) {
    List<Row> rows = new ArrayList<>();
    scala.collection.Iterator<Row> stored = side.get();
    while (stored.hasNext()) {
      rows.add(stored.next());
    }
    side.clear();
    return rows;
  }

  /** Returns the output of a left row, and marks the right rows that match it. */
  private Stream<Row> joined(Row left, List<Row> right, boolean[] met) {
    if (spec.condition != null) {
      spec.condition.fix(true, left);
    }
    List<Row> found = new ArrayList<>();
    for (int i = 0; i < right.size(); i++) {
      if (spec.condition == null || spec.condition.holds(true, right.get(i))) {
        met[i] = true;
        found.add(right.get(i));
        if (!spec.kind.pairs()) {
          break;
        }
      }
    }
    return switch (spec.kind) {
      case SEMI -> found.isEmpty() ? Stream.empty() : Stream.of(inserted(left));
      case ANTI -> found.isEmpty() ? Stream.of(inserted(left)) : Stream.empty();
      default ->
          found.isEmpty() && spec.kind.keepsUnmatched(true)
              ? Stream.of(pair(left, null))
              : found.stream().map(row -> pair(left, row));
    };
  }

  private Row pair(Row left, Row right) {
    return inserted(JoinOutput.joined(left, right, spec.left.length(), spec.right.length()));
  }

  private static Row inserted(Row row) {
    return RowKind.with(RowKind.INSERT, row);
  }
}
