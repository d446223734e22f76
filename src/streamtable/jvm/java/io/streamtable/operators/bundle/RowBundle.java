package io.streamtable.operators.bundle;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;

/**
 * Rows of one group that a stateful processor of real-time mode takes at once. Spark passes one row
 * at a time there. It sees the columns of the first row, from which it computes the group's key.
 */
public final class RowBundle extends JoinedRow {
  private final List<InternalRow> rows = new ArrayList<>();

  /** Starts a bundle with a row, which is not used again elsewhere. */
  public RowBundle(InternalRow first) {
    super(first, InternalRow.empty());
    rows.add(first);
  }

  /** Adds a row of the same group, which is not used again elsewhere. */
  public void add(InternalRow row) {
    rows.add(row);
  }

  /** Returns the rows in the order in which they were added. */
  public List<InternalRow> rows() {
    return rows;
  }
}
