package io.streamtable.operators.row;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ObjLongConsumer;
import org.apache.spark.sql.Row;

/**
 * Retractions in one call of rows that are not stored. If rows have a unique key, such a retraction
 * removes the row with its key.
 *
 * <p>A retraction may differ from the row that it retracts, if an expression below the operator is
 * not deterministic or a change event lacks columns of the old row.
 */
public final class InexactRetractions {
  private final int[] key;
  /** The rows of each key with such a retraction; null for none. */
  private Map<RowValue, KeyRows> byKey;

  /** @param key positions of a unique key; null if there is none, which ignores the retractions */
  public InexactRetractions(int[] key) {
    this.key = key;
  }

  /** Adds the retraction of a row that is not stored. */
  public void add(Row row, long copies) {
    if (key != null) {
      rows(row).retracted.add(row, copies);
    }
  }

  /** Adds the retraction of a row that is not stored, before equal rows are added. */
  void addReturned(Row row, long copies) {
    if (key != null) {
      rows(row).returned.add(row, copies);
    }
  }

  public boolean isEmpty() {
    return byKey == null;
  }

  /** Takes a row that is stored after the changes of the call. All of them must be passed. */
  public void offer(Row row, long copies) {
    KeyRows rows = byKey.get(own(row));
    if (rows != null) {
      rows.stored.add(row, copies);
    }
  }

  /**
   * Passes each row to remove to the consumer, with the count -1.
   *
   * <p>A retraction removes a row from before the call. If there is none, it removes the row that an
   * earlier change of the call added, or the first of several rows with its key.
   *
   * @param changes all changes of the call, in order
   * @return the retractions for which no row is found
   */
  public NetRows resolve(NetRows changes, ObjLongConsumer<Row> taker) {
    changes.forEach(
        (row, by) -> {
          KeyRows rows = by > 0 ? byKey.get(own(row)) : null;
          if (rows != null) {
            rows.stored.add(row, -by);
          }
        });
    for (KeyRows rows : byKey.values()) {
      rows.returned.forEach(
          (row, copies) -> {
            rows.retract(row, copies, taker);
            for (long i = Math.min(copies, changes.count(row)); i > 0; i--) {
              rows.added.addLast(row);
            }
          });
    }
    changes.forEach(
        (row, by) -> {
          KeyRows rows = byKey.get(own(row));
          if (rows == null) {
            return;
          }
          for (long i = rows.returned.count(row); i < by; i++) {
            rows.added.addLast(row);
          }
          rows.retract(row, rows.retracted.count(row), taker);
        });
    NetRows unknown = new NetRows();
    for (KeyRows rows : byKey.values()) {
      for (Row row : rows.unknown) {
        if (rows.added.size() > 1) {
          taker.accept(rows.added.removeFirst(), -1);
        } else {
          unknown.add(row, -1);
        }
      }
    }
    return unknown;
  }

  private KeyRows rows(Row row) {
    if (byKey == null) {
      byKey = new HashMap<>();
    }
    return byKey.computeIfAbsent(own(row), own -> new KeyRows());
  }

  private RowValue own(Row row) {
    return new RowValue(RowValue.columns(row, key));
  }

  /** The rows of one key. */
  private static final class KeyRows {
    private final NetRows returned = new NetRows();
    private final NetRows retracted = new NetRows();
    private final NetRows stored = new NetRows();
    private final Deque<Row> added = new ArrayDeque<>();
    private final List<Row> unknown = new ArrayList<>();

    /** Passes the rows that retractions of one row mean to the consumer. */
    void retract(Row retraction, long copies, ObjLongConsumer<Row> taker) {
      for (long i = 0; i < copies; i++) {
        Row found = take(retraction);
        if (found == null) {
          unknown.add(retraction);
        } else {
          taker.accept(found, -1);
        }
      }
    }

    /** Removes the row that a retraction means, and returns it; null for none. */
    Row take(Row retraction) {
      Row[] best = new Row[1];
      stored.forEach(
          (row, count) -> {
            boolean better = best[0] == null || alike(row, retraction) > alike(best[0], retraction);
            if (count > 0 && better) {
              best[0] = row;
            }
          });
      if (best[0] == null) {
        return added.pollLast();
      }
      stored.add(best[0], -1);
      return best[0];
    }

    private static int alike(Row one, Row other) {
      int equal = 0;
      for (int i = 0; i < one.length(); i++) {
        equal += Values.same(one.get(i), other.get(i)) ? 1 : 0;
      }
      return equal;
    }
  }
}
