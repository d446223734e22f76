package io.streamtable.operators.fanout;

import io.streamtable.operators.changelog.PairedFilter;
import io.streamtable.operators.row.RowKind;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * The filters and projections of a query up to a shuffle, a local fold or the sink. Between them are
 * paired filters ({@link PairedFilter}), which read both rows of an update.
 */
final class RowSteps implements Serializable {
  /** Position of the result of the condition, after the row kind. */
  private static final int MATCHES = 1;

  private final ArrayList<RowChain> chains;
  private final ArrayList<Boolean> pairs;
  private transient InternalRow[] before;

  /**
   * @param chains one more than there are paired filters; null for one that gives no rows
   * @param pairs whether each paired filter emits update-before rows
   */
  RowSteps(List<RowChain> chains, List<Boolean> pairs) {
    this.chains = new ArrayList<>(chains);
    this.pairs = new ArrayList<>(pairs);
  }

  /** Compiles the steps for one task. */
  void open(int task) {
    for (RowChain chain : chains) {
      if (chain != null) {
        chain.open(task);
      }
    }
    before = new InternalRow[pairs.size()];
  }

  /** Adds the rows that follow from an input row, each with the number in an additional column. */
  void apply(InternalRow input, int number, List<InternalRow> output) {
    apply(0, input, number, output);
  }

  private void apply(int step, InternalRow input, int number, List<InternalRow> output) {
    RowChain chain = chains.get(step);
    InternalRow row = chain == null ? null : chain.apply(input, number);
    if (row == null) {
      return;
    }
    if (step == pairs.size()) {
      output.add(row);
      return;
    }
    byte kind = row.getByte(RowKind.POSITION);
    InternalRow old = before[step];
    if (kind == RowKind.UPDATE_BEFORE) {
      before[step] = row.copy(); // its memory is used again for the next row
    } else if (old == null) {
      if (matches(row)) {
        apply(step + 1, as(kind, row), number, output);
      }
    } else {
      before[step] = null;
      update(step, old, row, number, output);
    }
  }

  private void update(
      int step, InternalRow old, InternalRow now, int number, List<InternalRow> output) {
    if (!matches(now)) {
      if (matches(old)) {
        apply(step + 1, as(RowKind.DELETE, old), number, output);
      }
    } else if (!matches(old)) {
      apply(step + 1, as(RowKind.INSERT, now), number, output);
    } else {
      if (pairs.get(step)) {
        apply(step + 1, as(RowKind.UPDATE_BEFORE, old), number, output);
      }
      apply(step + 1, as(RowKind.UPDATE_AFTER, now), number, output);
    }
  }

  private static boolean matches(InternalRow row) {
    return row.getBoolean(MATCHES);
  }

  /** Returns a row without the result of the condition. */
  private static InternalRow as(byte kind, InternalRow row) {
    Object[] values = ((GenericInternalRow) row).values();
    Object[] columns = new Object[values.length - 1];
    columns[RowKind.POSITION] = kind;
    System.arraycopy(values, MATCHES + 1, columns, 1, columns.length - 1);
    return new GenericInternalRow(columns);
  }
}
