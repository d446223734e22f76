package io.streamtable.operators;

import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/** Sums up what one call of a join changes about its output rows. */
final class JoinOutput {
  private final JoinKind kind;
  private final int leftLength;
  private final int rightLength;
  private final NetRows rows = new NetRows();

  JoinOutput(JoinKind kind, int leftLength, int rightLength) {
    this.kind = kind;
    this.leftLength = leftLength;
    this.rightLength = rightLength;
  }

  /** A row of one input came or went, whatever it meets. */
  void own(boolean left, Row row, long by) {
    if (kind == JoinKind.SEMI && left) {
      rows.add(row, by);
    }
  }

  /** Two rows that meet. */
  void pair(boolean left, Row own, Row other, long by) {
    if (kind.pairs()) {
      rows.add(joined(left ? own : other, left ? other : own), by);
    }
  }

  /** A row that meets none. */
  void lonely(boolean left, Row row, long by) {
    if (!kind.lonely(left)) {
      return;
    }
    switch (kind) {
      case SEMI -> rows.add(row, -by);
      case ANTI -> rows.add(row, by);
      default -> rows.add(left ? joined(row, null) : joined(null, row), by);
    }
  }

  List<Row> changes(int[] key, boolean before) {
    return rows.changes(key, before);
  }

  private Row joined(Row left, Row right) {
    return joined(left, right, leftLength, rightLength);
  }

  /** The columns of both rows; NULLs for one that is missing. */
  static Row joined(Row left, Row right, int leftLength, int rightLength) {
    Object[] columns = new Object[leftLength + rightLength];
    for (int i = 0; left != null && i < leftLength; i++) {
      columns[i] = left.get(i);
    }
    for (int i = 0; right != null && i < rightLength; i++) {
      columns[leftLength + i] = right.get(i);
    }
    return RowFactory.create(columns);
  }
}
