package io.streamtable.operators;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Changes of two inputs under one join key in, changes of the joined rows out.
 *
 * <p>Rows are (row kind, key columns..., left row, right row), of which one is null; where an input
 * gives upserts, Kafka's partition and offset follow. State (layout
 * v1): "left" and "right", the live rows of each input; see {@link JoinSide}. How many partners a
 * row has is kept only where a condition decides about single pairs: without one, the rows of a key
 * either all have partners or none has. Where rows expire it is kept, too: one that has met a partner
 * which is gone by now has been seen with it. A row is taken back from what has been seen whether it
 * is still kept or not.
 */
public final class JoinProcessor extends StatefulProcessor<Row, Row, Row> {
  private final JoinSpec spec;
  private final JoinSide left;
  private final JoinSide right;

  JoinProcessor(JoinSpec spec) {
    this.spec = spec;
    this.left = JoinSide.of(spec.left(), spec.leftKey());
    this.right = JoinSide.of(spec.right(), spec.rightKey());
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    left.open(ExpiringState.of(getHandle(), spec.leftTtl()), "left");
    right.open(ExpiringState.of(getHandle(), spec.rightTtl()), "right");
    if (spec.condition() != null) {
      spec.condition().open();
    }
  }

  @Override
  public scala.collection.Iterator<Row> handleInputRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    left.begin();
    right.begin();
    NetRows leftChanges = new NetRows(spec.expires());
    NetRows rightChanges = new NetRows(spec.expires());
    Upserts leftUpserts = upserts(true);
    Upserts rightUpserts = upserts(false);
    while (input.hasNext()) {
      Row row = input.next();
      boolean isLeft = !row.isNullAt(spec.leftAt());
      Upserts upserts = isLeft ? leftUpserts : rightUpserts;
      if (upserts != null) {
        upserts.add(row);
      } else {
        Row own = row.getStruct(isLeft ? spec.leftAt() : spec.leftAt() + 1);
        int sign = RowKind.sign(row.getByte(RowKind.POSITION));
        (isLeft ? leftChanges : rightChanges).add(own, sign);
      }
    }
    if (leftUpserts != null) {
      leftUpserts.resolve(left, leftChanges);
    }
    if (rightUpserts != null) {
      rightUpserts.resolve(right, rightChanges);
    }
    JoinOutput output =
        new JoinOutput(spec.kind(), spec.left().length(), spec.right().length());
    if (key.anyNull()) {
      leftChanges.additionsFirst((row, by) -> alone(true, row, by, output));
      rightChanges.additionsFirst((row, by) -> alone(false, row, by, output));
    } else {
      // Additions first: where a row replaces the only one of its side, the other side keeps its
      // partner throughout.
      leftChanges.additionsFirst((row, by) -> change(true, row, by, output));
      rightChanges.additionsFirst((row, by) -> change(false, row, by, output));
      if (spec.expires()) {
        leftChanges.unchanged(left::refresh);
        rightChanges.unchanged(right::refresh);
      }
    }
    return CollectionConverters.asScala(output.changes(spec.outputKey(), spec.before()).iterator());
  }

  /** Where the upserts of a side are put; null where it gives a full changelog. */
  private Upserts upserts(boolean isLeft) {
    if (!(isLeft ? spec.leftUpserts() : spec.rightUpserts())) {
      return null;
    }
    int[] key = isLeft ? spec.leftKey() : spec.rightKey();
    return new Upserts(key, isLeft ? spec.leftAt() : spec.leftAt() + 1, spec.leftAt() + 2);
  }

  /** A row whose key is null: it meets none, so nothing of it is kept. */
  private static void alone(boolean isLeft, Row row, long by, JoinOutput output) {
    output.own(isLeft, row, by);
    output.lonely(isLeft, row, by);
  }

  private void change(boolean isLeft, Row row, long wanted, JoinOutput output) {
    JoinSide own = isLeft ? left : right;
    long by = wanted > 0 ? wanted : removed(own, row, wanted);
    if (by == 0) {
      return;
    }
    // The first row of a key gives all rows of the other side a partner, the last one takes it.
    boolean turns = spec.kind().lonely(!isLeft) && !counted() && own.isEmpty();
    output.own(isLeft, row, by);
    long matches = meet(isLeft, row, by, turns, output);
    if (matches == 0) {
      output.lonely(isLeft, row, by);
    }
    if (by > 0) {
      own.add(row, by, matches);
    }
  }

  /** By how much a row that is taken back changes what has been seen. */
  private long removed(JoinSide own, Row row, long wanted) {
    long found = own.remove(row, -wanted);
    return spec.expires() ? wanted : -found;
  }

  /** Whether each row knows how many partners it has. */
  private boolean counted() {
    return spec.condition() != null || spec.expires();
  }

  /** Holds a row against the other side; returns how many rows it meets there. */
  private long meet(boolean isLeft, Row row, long by, boolean turns, JoinOutput output) {
    JoinSide other = isLeft ? right : left;
    PairCondition condition = spec.condition();
    if (!spec.kind().pairs() && !counted() && !turns) {
      return other.isEmpty() ? 0 : 1;
    }
    boolean counted = counted() && spec.kind().lonely(!isLeft);
    List<JoinSide.Entry> met = new ArrayList<>();
    long matches = 0;
    if (condition != null) {
      condition.fix(isLeft, row);
    }
    for (Iterator<JoinSide.Entry> entries = other.entries(); entries.hasNext(); ) {
      JoinSide.Entry entry = entries.next();
      if (condition != null && !condition.holds(isLeft, entry.row())) {
        continue;
      }
      matches += entry.count();
      output.pair(isLeft, row, entry.row(), by * entry.count());
      if (turns) {
        output.lonely(!isLeft, entry.row(), by > 0 ? -entry.count() : entry.count());
      }
      if (counted) {
        met.add(entry);
      }
    }
    for (JoinSide.Entry entry : met) {
      recount(other, !isLeft, entry, Math.max(0, entry.matches() + by), output);
    }
    return matches;
  }

  private static void recount(
      JoinSide side, boolean isLeft, JoinSide.Entry entry, long matches, JoinOutput output) {
    if ((entry.matches() == 0) != (matches == 0)) {
      output.lonely(isLeft, entry.row(), matches == 0 ? entry.count() : -entry.count());
    }
    side.count(entry, matches);
  }
}
