package io.streamtable.operators.join;

import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowValue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * Kafka's positions of the rows that a call of a join adds, from which its output gets positions.
 *
 * <p>A row that is added several times has its greatest position. The positions of windows are
 * times. They come first, and pairs that are only added by a row of the other input are earlier.
 */
final class AddedPositions {
  private static final int NO_PARTITION = -1;
  private static final long NO_OFFSET = -1L;

  private final JoinSpec spec;
  private final Map<RowValue, Row> left = new HashMap<>();
  private final Map<RowValue, Row> right = new HashMap<>();

  AddedPositions(JoinSpec spec) {
    this.spec = spec;
  }

  /**
   * Remembers the position of a row of one side, if it is an addition.
   *
   * @param input the input row, with the position
   */
  void note(boolean isLeft, Row row, Row input) {
    if (RowKind.sign(input.getByte(RowKind.POSITION)) > 0) {
      (isLeft ? left : right)
          .merge(new RowValue(row), input, (one, other) -> later(one, other, spec.positionAt()));
    }
  }

  /** Returns the changes with the position of their left row, or else of their right row. */
  List<Row> appendedTo(List<Row> changes) {
    List<Row> appended = new ArrayList<>(changes.size());
    changes.forEach(change -> appended.add(appended(change)));
    return appended;
  }

  /** Returns the later one of two input rows, both with Kafka's partition and offset. */
  static Row later(Row one, Row other, int positionAt) {
    int order = Integer.compare(one.getInt(positionAt), other.getInt(positionAt));
    if (order == 0) {
      order = Long.compare(one.getLong(positionAt + 1), other.getLong(positionAt + 1));
    }
    return order > 0 ? one : other;
  }

  private Row appended(Row change) {
    int length = change.length();
    Object[] columns = new Object[length + 2];
    for (int i = 0; i < length; i++) {
      columns[i] = change.get(i);
    }
    columns[length] = NO_PARTITION;
    columns[length + 1] = NO_OFFSET;
    boolean rightFirst = spec.rightWindows() && !spec.leftWindows();
    Row added = added(!rightFirst, change);
    boolean other = added == null;
    if (other) {
      added = added(rightFirst, change);
    }
    if (added != null) {
      int partition = added.getInt(spec.positionAt());
      boolean earlier = other && spec.leftWindows() != spec.rightWindows();
      columns[length] = earlier ? ~partition : partition;
      columns[length + 1] = added.getLong(spec.positionAt() + 1);
    }
    return RowFactory.create(columns);
  }

  /** Returns the input row with the left or the right row of a change; null if it is not added. */
  private Row added(boolean isLeft, Row change) {
    int rightAt = 1 + spec.left().length();
    if (isLeft) {
      return left.get(new RowValue(RowValue.slice(change, 1, rightAt)));
    }
    return change.length() > rightAt
        ? right.get(new RowValue(RowValue.slice(change, rightAt, change.length())))
        : null;
  }
}
