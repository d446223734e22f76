package io.streamtable.operators.rank;

import io.streamtable.operators.LocalFold;
import io.streamtable.operators.row.RowOrder;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.apache.spark.sql.Row;

/**
 * Prunes rows before the shuffle, for append-only input: drops a row of a partition that sorts
 * after a row that the task has read shortly before. Copies of a record are mostly close together.
 *
 * <p>{@link LocalTopN} would find all such rows. But if each partition has one output row, few rows
 * can be pruned, and a table of all partitions then costs more than the shuffle. Here a row waits
 * until another partition needs its slot. A task that finds hardly any rows to prune sends the
 * remaining rows unchanged.
 */
final class LocalTopOne extends LocalFold {
  private static final int SLOTS = 1 << 14;
  /** The number of rows before the first check of the benefit. */
  private static final int TRIED = 4 * SLOTS;
  /** At least one row in this many must have been pruned. */
  private static final int WORTH = 8;

  private final RowOrder order;

  /** @param order order of rows with their row kind */
  LocalTopOne(int[] keyPositions, RowOrder order) {
    super(keyPositions);
    this.order = order;
  }

  @Override
  protected Iterator<Row> fold(Iterator<Row> input) {
    return new Firsts(input);
  }

  private final class Firsts implements Iterator<Row> {
    private final Iterator<Row> input;
    private final Row[] waiting = new Row[SLOTS];
    private int seen;
    private int leftOut;
    private int emptied;
    private Row ready;

    private Firsts(Iterator<Row> input) {
      this.input = input;
    }

    @Override
    public boolean hasNext() {
      while (ready == null && input.hasNext()) {
        ready = worthwhile() ? exchanged(input.next()) : input.next();
      }
      while (ready == null && emptied < SLOTS) {
        ready = waiting[emptied++];
      }
      return ready != null;
    }

    @Override
    public Row next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      Row row = ready;
      ready = null;
      return row;
    }

    private boolean worthwhile() {
      return seen < TRIED || leftOut >= seen / WORTH;
    }

    /**
     * Puts a row into its slot and returns the row of another partition that was there; null if the
     * slot was empty or one of two rows was pruned.
     */
    private Row exchanged(Row row) {
      Object key = key(row);
      int hash = Objects.hashCode(key);
      int slot = (hash ^ hash >>> 16) & SLOTS - 1;
      Row before = waiting[slot];
      seen++;
      if (before == null || !Objects.equals(key(before), key)) {
        waiting[slot] = row;
        return before;
      }
      leftOut++;
      if (order.compare(row, before) < 0) {
        waiting[slot] = row;
      }
      return null;
    }
  }
}
