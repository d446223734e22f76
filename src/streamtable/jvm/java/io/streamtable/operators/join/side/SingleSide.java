package io.streamtable.operators.join.side;

import io.streamtable.operators.row.Values;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Row;

/** A side with at most one row per join key. */
abstract class SingleSide implements JoinSide {
  /** Returns the stored row; null for none. */
  abstract Row stored();

  /** Returns the number of matches of the stored row. */
  abstract long matches();

  /** Replaces the stored row. */
  abstract void store(Row row, long matches);

  /** Removes the stored row. */
  abstract void clear();

  @Override
  public boolean isEmpty() {
    return stored() == null;
  }

  @Override
  public Iterator<Entry> entries() {
    return stored() == null
        ? Collections.emptyIterator()
        : List.of(new Entry(stored(), 1, matches())).iterator();
  }

  @Override
  public Row find(Row row) {
    return stored();
  }

  @Override
  public void add(Row row, long by, long matches) {
    store(row, matches);
  }

  @Override
  public long remove(Row row, long by) {
    if (stored() == null) {
      return 0;
    }
    // If the stored row differs, it has replaced this row within the call: see Retractions.
    if (Values.same(stored(), row)) {
      clear();
    }
    return by;
  }

  @Override
  public void refresh(Row row) {
    if (stored() != null) {
      store(stored(), matches());
    }
  }

  @Override
  public void count(Entry entry, long matches) {
    store(entry.row(), matches);
  }
}
