package io.streamtable.operators.row;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ObjLongConsumer;
import java.util.function.ToLongFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * The net count of each row of a changelog. Additions and retractions of equal rows cancel out, and
 * their order does not matter. Different rows keep the order of their last additions.
 */
public final class NetRows {
  private final Map<RowValue, Long> counts = new LinkedHashMap<>();
  private final Set<RowValue> unchanged;
  /** The lowest count of each row that was added when its count was negative; null if not kept. */
  private final Map<RowValue, Long> lowest;

  public NetRows() {
    this(false, false);
  }

  /**
   * @param remembers whether {@link #unchanged} will be called
   * @param begins whether the first change of a row may be a retraction, and {@link #returned} will
   *     be called
   */
  public NetRows(boolean remembers, boolean begins) {
    this.unchanged = remembers ? new LinkedHashSet<>() : null;
    this.lowest = begins ? new LinkedHashMap<>() : null;
  }

  public void add(Row row, long by) {
    RowValue value = new RowValue(row);
    long count = counts.merge(value, by, Long::sum);
    if (lowest != null && by > 0 && count < by) {
      lowest.merge(value, count - by, Math::min);
    }
    if (count == 0) {
      counts.remove(value);
      if (unchanged != null) {
        unchanged.add(value);
      }
    } else if (by > 0 && count != by) {
      counts.remove(value);
      counts.put(value, count);
    }
  }

  /**
   * Passes each row that was first retracted and then added to the consumer, with the number of its
   * first retractions. They have no effect on rows that are not stored; the consumer may add these.
   */
  public void returned(ObjLongConsumer<Row> taker) {
    if (lowest != null) {
      lowest.forEach((value, count) -> taker.accept(value.row(), -count));
    }
  }

  /** Returns whether {@link #returned} passes a row. */
  public boolean hasReturned() {
    return lowest != null && !lowest.isEmpty();
  }

  /** Adds rows that are not stored as often as they were first retracted, before they were added. */
  public void addReturned(ToLongFunction<Row> stored, InexactRetractions inexact) {
    unknown(stored, inexact, this::add);
  }

  /** Returns these changes behind the rows that {@link #addReturned} adds. */
  public NetRows behindReturned(ToLongFunction<Row> stored, InexactRetractions inexact) {
    NetRows all = new NetRows();
    unknown(stored, inexact, all::add);
    forEach(all::add);
    return all;
  }

  private void unknown(
      ToLongFunction<Row> stored, InexactRetractions inexact, ObjLongConsumer<Row> taker) {
    returned(
        (row, by) -> {
          long unknown = by - stored.applyAsLong(row);
          if (unknown > 0) {
            taker.accept(row, unknown);
            inexact.addReturned(row, unknown);
          }
        });
  }

  /** Returns the net count of a row. */
  public long count(Row row) {
    return counts.getOrDefault(new RowValue(row), 0L);
  }

  public boolean isEmpty() {
    return counts.isEmpty();
  }

  /** Returns the number of different rows with a count. */
  public int size() {
    return counts.size();
  }

  /** Passes each row with its net count to the consumer, in order. */
  public void forEach(ObjLongConsumer<Row> taker) {
    counts.forEach((value, by) -> taker.accept(value.row(), by));
  }

  /** Passes each row with as many additions as retractions to the consumer. */
  public void unchanged(Consumer<Row> taker) {
    for (RowValue value : unchanged) {
      if (!counts.containsKey(value)) {
        taker.accept(value.row());
      }
    }
  }

  /**
   * Passes first each row with a positive count to the consumer, then each row with a negative
   * count.
   */
  public void additionsFirst(ObjLongConsumer<Row> taker) {
    forEach(true, taker);
    forEach(false, taker);
  }

  /**
   * Returns the changes as rows of (row kind, columns...).
   *
   * <p>Deletes come first, so that a consumer that uses a key never deletes the replacement of a
   * row. The two rows of an update are next to each other.
   *
   * @param key positions of the columns that combine a removal and an addition into an update; null
   *     if every change is a delete or an insert
   * @param before whether to emit update-before rows
   */
  public List<Row> changes(int[] key, boolean before) {
    List<Row> deletes = new ArrayList<>();
    List<Row> others = new ArrayList<>();
    Map<RowValue, Row> removed = new LinkedHashMap<>();
    forEach(
        false,
        (row, by) -> {
          for (long i = by; i < 0; i++) {
            if (key == null || removed.putIfAbsent(value(row, key), row) != null) {
              deletes.add(changed(RowKind.DELETE, row));
            }
          }
        });
    forEach(
        true,
        (row, by) -> {
          for (long i = 0; i < by; i++) {
            Row old = removed.isEmpty() ? null : removed.remove(value(row, key));
            if (old == null) {
              others.add(changed(RowKind.INSERT, row));
              continue;
            }
            if (before) {
              others.add(changed(RowKind.UPDATE_BEFORE, old));
            }
            others.add(changed(RowKind.UPDATE_AFTER, row));
          }
        });
    removed.values().forEach(row -> deletes.add(changed(RowKind.DELETE, row)));
    deletes.addAll(others);
    return deletes;
  }

  /**
   * Returns an update to itself of each row with a positive count, as often as that, as {@link
   * #changes} does it.
   */
  public List<Row> repeated(int[] key, boolean before) {
    List<Row> updates = new ArrayList<>();
    forEach(
        true,
        (row, by) -> {
          for (long i = 0; i < by; i++) {
            if (key == null || before) {
              updates.add(changed(key == null ? RowKind.DELETE : RowKind.UPDATE_BEFORE, row));
            }
            updates.add(changed(key == null ? RowKind.INSERT : RowKind.UPDATE_AFTER, row));
          }
        });
    return updates;
  }

  private static RowValue value(Row row, int[] key) {
    return new RowValue(RowValue.columns(row, key));
  }

  private void forEach(boolean added, ObjLongConsumer<Row> taker) {
    counts.forEach(
        (value, by) -> {
          if (by > 0 == added) {
            taker.accept(value.row(), by);
          }
        });
  }

  /** Returns an output row. */
  public static Row changed(byte kind, Row row) {
    Object[] columns = new Object[1 + row.length()];
    columns[RowKind.POSITION] = kind;
    for (int i = 0; i < row.length(); i++) {
      columns[1 + i] = row.get(i);
    }
    return RowFactory.create(columns);
  }
}
