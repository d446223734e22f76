package io.streamtable.operators;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ObjLongConsumer;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * By how much each row of a changelog grew or shrank: what was added and taken back meanwhile
 * cancels out, and the order in which it happened does not matter.
 */
final class NetRows {
  private final Map<RowValue, Long> counts = new LinkedHashMap<>();
  private final Set<RowValue> unchanged;

  NetRows() {
    this(false);
  }

  /** @param remembers whether {@link #unchanged} will be asked */
  NetRows(boolean remembers) {
    this.unchanged = remembers ? new LinkedHashSet<>() : null;
  }

  void add(Row row, long by) {
    RowValue value = new RowValue(row);
    if (counts.merge(value, by, Long::sum) == 0) {
      counts.remove(value);
      if (unchanged != null) {
        unchanged.add(value);
      }
    }
  }

  boolean isEmpty() {
    return counts.isEmpty();
  }

  /** Hands over every row that was added as often as it was taken back. */
  void unchanged(Consumer<Row> taker) {
    for (RowValue value : unchanged) {
      if (!counts.containsKey(value)) {
        taker.accept(value.row());
      }
    }
  }

  /** Hands over every row that grew, then every row that shrank. */
  void additionsFirst(ObjLongConsumer<Row> taker) {
    forEach(true, taker);
    forEach(false, taker);
  }

  /**
   * The changes as rows of (row kind, columns...).
   *
   * <p>Deletes come first, so that a consumer that goes by a key never deletes what replaced a row.
   * An update's two rows stand next to each other.
   *
   * @param key positions of columns that tell which removal and addition are an update; null where
   *     no columns do, and every change is a delete or an insert
   * @param before whether an update comes with the row it replaces
   */
  List<Row> changes(int[] key, boolean before) {
    Map<RowValue, Row> replaced = key == null ? Map.of() : replaced(key);
    List<Row> deletes = new ArrayList<>();
    List<Row> others = new ArrayList<>();
    forEach(
        false,
        (row, by) -> {
          if (replaced(row, key, replaced) == null) {
            repeat(deletes, RowKind.DELETE, row, -by);
          }
        });
    forEach(
        true,
        (row, by) -> {
          Row old = replaced(row, key, replaced);
          if (old == null) {
            repeat(others, RowKind.INSERT, row, by);
          } else {
            if (before) {
              others.add(changed(RowKind.UPDATE_BEFORE, old));
            }
            others.add(changed(RowKind.UPDATE_AFTER, row));
          }
        });
    deletes.addAll(others);
    return deletes;
  }

  /** The removed rows whose key has an added row. */
  private Map<RowValue, Row> replaced(int[] key) {
    Map<RowValue, Row> removed = new HashMap<>();
    forEach(false, (row, by) -> removed.put(new RowValue(RowValue.columns(row, key)), row));
    if (removed.isEmpty()) {
      return removed;
    }
    Map<RowValue, Row> replaced = new HashMap<>();
    forEach(
        true,
        (row, by) -> {
          RowValue value = new RowValue(RowValue.columns(row, key));
          if (removed.containsKey(value)) {
            replaced.put(value, removed.get(value));
          }
        });
    return replaced;
  }

  private static Row replaced(Row row, int[] key, Map<RowValue, Row> replaced) {
    return replaced.isEmpty() ? null : replaced.get(new RowValue(RowValue.columns(row, key)));
  }

  private void forEach(boolean added, ObjLongConsumer<Row> taker) {
    counts.forEach(
        (value, by) -> {
          if (by > 0 == added) {
            taker.accept(value.row(), by);
          }
        });
  }

  private static void repeat(List<Row> output, byte kind, Row row, long times) {
    Row changed = changed(kind, row);
    for (long i = 0; i < times; i++) {
      output.add(changed);
    }
  }

  /** A row of the output. */
  static Row changed(byte kind, Row row) {
    Object[] columns = new Object[1 + row.length()];
    columns[RowKind.POSITION] = kind;
    for (int i = 0; i < row.length(); i++) {
      columns[1 + i] = row.get(i);
    }
    return RowFactory.create(columns);
  }
}
