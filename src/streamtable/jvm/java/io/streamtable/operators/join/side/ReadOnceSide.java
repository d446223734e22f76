package io.streamtable.operators.join.side;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;

/**
 * A side of several rows, which are read once for all changes of the other side in a call. Each read
 * of all rows opens an iterator of the state, which costs more than a few rows.
 */
final class ReadOnceSide implements StoredSide {
  private static final int MAX_HELD = 1_000;

  private final StoredSide side;
  /** All rows of the join key; null if they are not read, changed since, or too many. */
  private transient List<Entry> held;
  private transient boolean many;

  ReadOnceSide(StoredSide side) {
    this.side = side;
  }

  @Override
  public void open(StatefulProcessorHandle handle, String name) {
    side.open(handle, name);
  }

  @Override
  public void begin() {
    held = null;
    many = false;
    side.begin();
  }

  @Override
  public boolean looksForAdded() {
    return side.looksForAdded();
  }

  @Override
  public void allNew() {
    side.allNew();
  }

  @Override
  public boolean isEmpty() {
    return held == null ? side.isEmpty() : held.isEmpty();
  }

  @Override
  public Iterator<Entry> entries() {
    if (held != null) {
      return held.iterator();
    }
    if (many) {
      return side.entries();
    }
    List<Entry> first = new ArrayList<>();
    Iterator<Entry> stored = side.entries();
    while (stored.hasNext() && first.size() < MAX_HELD) {
      first.add(stored.next());
    }
    if (!stored.hasNext()) {
      held = first;
      return first.iterator();
    }
    many = true;
    return side.entries();
  }

  @Override
  public Row find(Row row) {
    return side.find(row);
  }

  @Override
  public long copies(Row row) {
    return side.copies(row);
  }

  @Override
  public void add(Row row, long by, long matches) {
    held = null;
    side.add(row, by, matches);
  }

  @Override
  public long remove(Row row, long by) {
    held = null;
    return side.remove(row, by);
  }

  @Override
  public void refresh(Row row) {
    side.refresh(row);
  }

  @Override
  public void count(Entry entry, long matches) {
    held = null;
    side.count(entry, matches);
  }
}
