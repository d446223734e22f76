package io.streamtable.operators.join;

import io.streamtable.operators.join.side.JoinSide;
import io.streamtable.operators.row.NetRows;
import io.streamtable.operators.row.RowValue;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.Row;

/**
 * Matches the retractions of one input of a join with the stored rows, by a unique key.
 *
 * <p>A retraction may differ from the row that it retracts, if an expression below the join is not
 * deterministic or a change event lacks columns of the old row. As in Flink, the retraction removes
 * the row with its key. The output retracts the stored row, which downstream operators know.
 */
final class Retractions {
  private final JoinSide side;
  private final int[] key;
  private final boolean expires;

  /**
   * @param key positions that identify a row within a join key; empty if there is at most one row
   * @param expires whether the retraction of an unknown row retracts its output
   */
  Retractions(JoinSide side, int[] key, boolean expires) {
    this.side = side;
    this.key = key;
    this.expires = expires;
  }

  /** Replaces the changes of each key that has a retraction of another row than the stored one. */
  void resolve(NetRows changes) {
    Map<RowValue, KeyChanges> inexact = new LinkedHashMap<>();
    changes.returned(
        (row, by) -> {
          if (by > side.copies(row)) {
            keyChanges(row, inexact).addReturned(row, changes.count(row));
          }
        });
    changes.forEach(
        (row, by) -> {
          if (by < -1 || (by < 0 && side.copies(row) == 0)) {
            keyChanges(row, inexact);
          }
        });
    if (inexact.isEmpty()) {
      return;
    }
    changes.forEach(
        (row, by) -> {
          KeyChanges found = inexact.get(own(row));
          if (found != null) {
            found.add(row, by);
          }
        });
    inexact.values().forEach(found -> found.replace(changes));
  }

  private KeyChanges keyChanges(Row row, Map<RowValue, KeyChanges> inexact) {
    return inexact.computeIfAbsent(own(row), key -> new KeyChanges(side.find(row)));
  }

  private RowValue own(Row row) {
    return new RowValue(RowValue.columns(row, key));
  }

  /** The changes of one key. */
  private final class KeyChanges {
    private final Row stored;
    private final NetRows given = new NetRows();
    /** The retraction of a row that is not stored, if the changes begin with it. */
    private Row unknown;
    private Row added;
    private boolean endsAdded;
    private long count;

    KeyChanges(Row stored) {
      this.stored = stored;
      this.count = stored == null ? 0 : 1;
    }

    /** Adds a row that was first retracted, though it is not stored, and then added. */
    void addReturned(Row row, long by) {
      if (by == 0) {
        added = row;
        endsAdded = true;
      }
      count += stored == null ? 1 : 0;
    }

    /** Adds a change. */
    void add(Row row, long by) {
      if (stored == null && given.isEmpty() && by < 0) {
        unknown = row;
      }
      given.add(row, by);
      endsAdded = by > 0;
      added = endsAdded ? row : added;
      count += by;
    }

    /**
     * Replaces the changes by at most one retraction and one addition. The last change decides
     * whether a row is left. A shuffle may have mixed the changes, so their count decides as well.
     */
    void replace(NetRows changes) {
      given.forEach((row, by) -> changes.add(row, -by));
      if (stored != null) {
        changes.add(stored, -1);
      } else if (expires && unknown != null) {
        changes.add(unknown, -1);
      }
      if (endsAdded || (added != null && count > 0)) {
        changes.add(added, 1);
      }
    }
  }
}
