package io.streamtable.operators.join;

import io.streamtable.operators.row.NetRows;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/** Collects the net changes of the output rows in one call of a join. */
public final class JoinOutput {
  private final JoinKind kind;
  private final int leftLength;
  private final int rightLength;
  private final NetRows rows = new NetRows();

  JoinOutput(JoinSpec spec) {
    this.kind = spec.kind();
    this.leftLength = spec.left().length();
    this.rightLength = spec.right().length();
  }

  /** Adds or retracts a row of one input, regardless of matches. */
  void own(boolean left, Row row, long by) {
    if (kind == JoinKind.SEMI && left) {
      rows.add(row, by);
    }
  }

  /** Adds or retracts a pair of matching rows. */
  void pair(boolean left, Row own, Row other, long by) {
    if (kind.pairs()) {
      rows.add(joined(left ? own : other, left ? other : own), by);
    }
  }

  /** Adds or retracts an unmatched row. */
  void unmatched(boolean left, Row row, long by) {
    if (!kind.keepsUnmatched(left)) {
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

  /** Returns an update to itself of each row instead of its addition. */
  List<Row> repeated(int[] key, boolean before) {
    return rows.repeated(key, before);
  }

  private Row joined(Row left, Row right) {
    return joined(left, right, leftLength, rightLength);
  }

  /** Builds a row with the columns of both rows; the columns of a missing row are NULL. */
  public static Row joined(Row left, Row right, int leftLength, int rightLength) {
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
