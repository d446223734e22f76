package io.streamtable.operators;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.apache.spark.sql.Row;

/**
 * Leaves out, before the shuffle, rows of a partition that come after one which the task has seen a
 * short while ago, where rows are only added: copies of a record mostly follow each other closely.
 *
 * <p>{@link LocalTopN} would find all of them, but of one row each there are mostly few to choose
 * from, and a table of all partitions then costs more than the shuffle does. Here a row waits until
 * another partition wants its slot. A task whose first rows are all different sends the rest as they
 * are.
 */
final class LocalTopOne extends LocalFold {
  private static final int SLOTS = 1 << 14;
  /** After so many rows it is asked whether it is worth the while. */
  private static final int TRIED = 4 * SLOTS;
  /** One row of so many must have been left out. */
  private static final int WORTH = 8;

  private final RowOrder order;

  /** @param order of rows with their row kind */
  LocalTopOne(int[] keyPositions, RowOrder order) {
    super(keyPositions);
    this.order = order;
  }

  @Override
  Iterator<Row> fold(Iterator<Row> input) {
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

    /** What leaves its slot for a row; null where the slot was empty, or one of both is left out. */
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
