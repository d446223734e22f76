package io.streamtable.operators.changelog;

import io.streamtable.operators.row.RowKind;
import java.util.ArrayDeque;
import java.util.Iterator;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * Filters a full changelog so that the result is a full changelog. A row that stops matching
 * becomes a delete, a row that begins to match becomes an insert, and a row that never matched is
 * dropped.
 *
 * <p>Rows are (row kind, matches BOOLEAN, columns...). Operators emit the two rows of an update
 * next to each other, so the filter only remembers one row.
 */
public final class PairedFilter implements MapPartitionsFunction<Row, Row> {
  private static final int MATCHES = 1;

  private final boolean before;

  /** @param before whether to emit update-before rows */
  public PairedFilter(boolean before) {
    this.before = before;
  }

  @Override
  public Iterator<Row> call(Iterator<Row> input) {
    return new Iterator<>() {
      private final ArrayDeque<Row> ready = new ArrayDeque<>(2);

      @Override
      public boolean hasNext() {
        while (ready.isEmpty() && input.hasNext()) {
          filter(input.next(), input, ready);
        }
        return !ready.isEmpty();
      }

      @Override
      public Row next() {
        hasNext();
        return ready.remove();
      }
    };
  }

  private void filter(Row row, Iterator<Row> input, ArrayDeque<Row> output) {
    if (row.getByte(RowKind.POSITION) != RowKind.UPDATE_BEFORE) {
      if (matches(row)) {
        output.add(row(row, row.getByte(RowKind.POSITION)));
      }
      return;
    }
    // Spark's iterators fetch in hasNext, so it is called even if the result is known.
    if (!input.hasNext()) {
      throw new IllegalStateException("a -U row without the +U row that belongs to it");
    }
    Row after = input.next();
    if (!matches(after)) {
      if (matches(row)) {
        output.add(row(row, RowKind.DELETE));
      }
    } else if (!matches(row)) {
      output.add(row(after, RowKind.INSERT));
    } else {
      if (before) {
        output.add(row(row, RowKind.UPDATE_BEFORE));
      }
      output.add(row(after, RowKind.UPDATE_AFTER));
    }
  }

  private static boolean matches(Row row) {
    return Boolean.TRUE.equals(row.get(MATCHES));
  }

  private static Row row(Row row, byte kind) {
    Object[] columns = new Object[row.length() - 1];
    columns[RowKind.POSITION] = kind;
    for (int i = 1; i < columns.length; i++) {
      columns[i] = row.get(i + 1);
    }
    return RowFactory.create(columns);
  }
}
