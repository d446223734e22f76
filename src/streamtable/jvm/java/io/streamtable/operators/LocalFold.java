package io.streamtable.operators;

import io.streamtable.operators.row.ColumnsKey;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;

/**
 * Reduces the rows of a task before the shuffle to those that their groups need.
 *
 * <p>The memory is bounded. A task with more groups than fit sends several rows for some groups,
 * with the same result.
 */
public abstract class LocalFold implements MapPartitionsFunction<Row, Row> {
  protected static final int MAX_HELD = 100_000;
  protected static final int MAX_ROWS = 1_000_000;

  /** The number of rows before the first check of the benefit. */
  protected static final int TRIED = 1 << 14;
  /**
   * At the first check, one row in this many must be of a known group. Else there are too many
   * groups.
   */
  protected static final int WORTH_TRYING = 16;
  /** After that, one row in this many of the rows aggregated together must be of a known group. */
  protected static final int WORTH = 4;

  protected final int[] keyPositions;

  protected LocalFold(int[] keyPositions) {
    this.keyPositions = keyPositions;
  }

  /** Reduces some rows and returns the remaining rows. */
  protected abstract Iterator<Row> fold(Iterator<Row> input);

  @Override
  public final Iterator<Row> call(Iterator<Row> input) {
    return new Iterator<>() {
      private Iterator<Row> ready = List.<Row>of().iterator();

      @Override
      public boolean hasNext() {
        while (!ready.hasNext() && input.hasNext()) {
          ready = fold(input);
        }
        return ready.hasNext();
      }

      @Override
      public Row next() {
        hasNext();
        return ready.next();
      }
    };
  }

  /** Concatenates two iterators. */
  protected static Iterator<Row> chained(Iterator<Row> one, Iterator<Row> other) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return one.hasNext() || other.hasNext();
      }

      @Override
      public Row next() {
        return one.hasNext() ? one.next() : other.next();
      }
    };
  }

  /** Returns the grouping key of a row: the value of one column, or the values of several. */
  protected final Object key(Row row) {
    if (keyPositions.length == 1) {
      return row.get(keyPositions[0]);
    }
    return new ColumnsKey(row, keyPositions);
  }

  /** Writes a grouping key to a row, after the row kind. */
  protected final void putKey(Object key, Object[] row) {
    if (keyPositions.length == 1) {
      row[1] = key;
      return;
    }
    System.arraycopy(((ColumnsKey) key).values(), 0, row, 1, keyPositions.length);
  }

  /** Returns whether fewer groups than rows are held, by at least one row in this many. */
  protected static boolean saves(int rows, int groups, int worth) {
    return rows - groups >= rows / worth;
  }
}
