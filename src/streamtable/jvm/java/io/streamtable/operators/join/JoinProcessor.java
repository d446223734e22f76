package io.streamtable.operators.join;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.join.side.JoinSide;
import io.streamtable.operators.join.side.JoinSides;
import io.streamtable.operators.row.InexactRetractions;
import io.streamtable.operators.row.NetRows;
import io.streamtable.operators.row.RowKind;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads changes of two inputs with one join key, and emits changes of the joined rows.
 *
 * <p>Input rows are (row kind, key columns..., left row, right row), where one of the two rows is
 * null; if an input contains upserts or the output has positions, Kafka's partition and offset
 * follow. State: the current rows of each input; see {@link JoinSides}. State has the number of
 * matches of a row only if a condition decides about single pairs. Without a condition, either all
 * rows of a key have matches or none has. With a state TTL it is also stored, because a row may
 * have been emitted with a match that has expired since. A retraction of a row then retracts its
 * output whether the row is still in state or not. If rows have a key, a retraction removes the row
 * with its key; see {@link Retractions} and {@link InexactRetractions}.
 */
public final class JoinProcessor extends RowProcessor {
  private static final int WORTH_ASKING = 3;

  private final JoinSpec spec;
  private final JoinSides sides;

  JoinProcessor(JoinSpec spec) {
    this.spec = spec;
    this.sides = spec.sides();
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    sides.open(getHandle());
    if (spec.condition() != null) {
      spec.condition().open();
    }
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    sides.begin();
    JoinSide left = sides.left();
    JoinSide right = sides.right();
    NetRows leftChanges = new NetRows(spec.expires(), spec.leftBegins());
    NetRows rightChanges = new NetRows(spec.expires(), spec.rightBegins());
    Upserts leftUpserts = upserts(true);
    Upserts rightUpserts = upserts(false);
    AddedPositions positions = spec.positions() ? new AddedPositions(spec) : null;
    while (input.hasNext()) {
      Row row = input.next();
      boolean isLeft = !row.isNullAt(spec.leftAt());
      Row own = row.getStruct(isLeft ? spec.leftAt() : spec.leftAt() + 1);
      if (positions != null) {
        positions.note(isLeft, own, row);
      }
      Upserts upserts = isLeft ? leftUpserts : rightUpserts;
      if (upserts != null) {
        upserts.add(row);
      } else {
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
    JoinOutput output = new JoinOutput(spec);
    if (key.anyNull()) {
      leftChanges.additionsFirst((row, by) -> alone(true, row, by, output));
      rightChanges.additionsFirst((row, by) -> alone(false, row, by, output));
    } else {
      if (leftUpserts == null && spec.leftKey() != null) {
        new Retractions(left, spec.leftKey(), spec.expires()).resolve(leftChanges);
      }
      if (rightUpserts == null && spec.rightKey() != null) {
        new Retractions(right, spec.rightKey(), spec.expires()).resolve(rightChanges);
      }
      // Additions first: if a row replaces the only row of its side, the other side stays matched
      // throughout.
      prepare(left, leftChanges);
      apply(true, leftChanges, output);
      prepare(right, rightChanges);
      apply(false, rightChanges, output);
      if (spec.expires()) {
        leftChanges.unchanged(left::refresh);
        rightChanges.unchanged(right::refresh);
      }
    }
    sides.end();
    List<Row> changes = output.changes(spec.outputKey(), spec.before());
    if (key.anyNull()) {
      changes.addAll(0, returned(leftChanges, rightChanges));
    }
    return CollectionConverters.asScala(
        (positions != null ? positions.appendedTo(changes) : changes).iterator());
  }

  /** Asks once whether a join key has rows: to look for a row that does not exist is expensive. */
  private static void prepare(JoinSide side, NetRows changes) {
    if (side.looksForAdded() && changes.size() >= WORTH_ASKING && side.isEmpty()) {
      side.allNew();
    }
  }

  /** Returns the collector of upserts of a side; null if the side has a full changelog. */
  private Upserts upserts(boolean isLeft) {
    if (!(isLeft ? spec.leftUpserts() : spec.rightUpserts())) {
      return null;
    }
    int[] key = isLeft ? spec.leftKey() : spec.rightKey();
    return new Upserts(key, isLeft ? spec.leftAt() : spec.leftAt() + 1, spec.positionAt());
  }

  /**
   * Returns updates to themselves of the rows with a null key that were first retracted and then
   * added. The join does not know whether their first retractions removed a row.
   */
  private List<Row> returned(NetRows leftChanges, NetRows rightChanges) {
    JoinOutput output = new JoinOutput(spec);
    leftChanges.returned((row, by) -> alone(true, row, by, output));
    rightChanges.returned((row, by) -> alone(false, row, by, output));
    return output.repeated(spec.outputKey(), spec.before());
  }

  /** Emits the change of a row whose key is null. The row never matches, so it is not stored. */
  private static void alone(boolean isLeft, Row row, long by, JoinOutput output) {
    output.own(isLeft, row, by);
    output.unmatched(isLeft, row, by);
  }

  private void apply(boolean isLeft, NetRows changes, JoinOutput output) {
    JoinSide own = isLeft ? sides.left() : sides.right();
    int[] key = isLeft ? spec.leftUnique() : spec.rightUnique();
    InexactRetractions inexact = new InexactRetractions(key);
    if ((isLeft ? spec.leftKey() : spec.rightKey()) == null) {
      changes.addReturned(own::copies, inexact);
    }
    changes.additionsFirst(
        (row, by) -> {
          long known = by > 0 ? by : -own.remove(row, -by);
          change(isLeft, row, key == null && spec.expires() ? by : known, output);
          if (by < known) {
            inexact.add(row, known - by);
          }
        });
    if (inexact.isEmpty()) {
      return;
    }
    own.entries().forEachRemaining(entry -> inexact.offer(entry.row(), entry.count()));
    NetRows unknown =
        inexact.resolve(
            changes, (row, by) -> change(isLeft, row, -own.remove(row, -by), output));
    if (spec.expires()) {
      unknown.forEach((row, by) -> change(isLeft, row, by, output));
    }
  }

  private void change(boolean isLeft, Row row, long by, JoinOutput output) {
    if (by == 0) {
      return;
    }
    JoinSide own = isLeft ? sides.left() : sides.right();
    // The first row of a key gives all rows of the other side a match; the last row removes it.
    boolean turns = spec.kind().keepsUnmatched(!isLeft) && !counted() && own.isEmpty();
    output.own(isLeft, row, by);
    long matches = meet(isLeft, row, by, turns, output);
    if (matches == 0) {
      output.unmatched(isLeft, row, by);
    }
    if (by > 0) {
      own.add(row, by, matches);
    }
  }

  /** Returns whether state has the number of matches of each row. */
  private boolean counted() {
    return spec.condition() != null || spec.expires();
  }

  /** Joins a row with the other side. Returns the number of its matches. */
  private long meet(boolean isLeft, Row row, long by, boolean turns, JoinOutput output) {
    JoinSide other = isLeft ? sides.right() : sides.left();
    PairCondition condition = spec.condition();
    if (!spec.kind().pairs() && !counted() && !turns) {
      return other.isEmpty() ? 0 : 1;
    }
    boolean counted = counted() && spec.kind().keepsUnmatched(!isLeft);
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
        output.unmatched(!isLeft, entry.row(), by > 0 ? -entry.count() : entry.count());
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
      output.unmatched(isLeft, entry.row(), matches == 0 ? entry.count() : -entry.count());
    }
    side.count(entry, matches);
  }
}
