package io.streamtable.operators.join.temporal;

import io.streamtable.operators.join.JoinOutput;
import io.streamtable.operators.join.PairCondition;
import java.io.Serializable;
import org.apache.spark.sql.Row;

/**
 * Joins a left row with the version at its time.
 *
 * @param outer whether a left row without a match is emitted with NULLs
 * @param condition condition of pairs in addition to equal keys; null for none
 */
record VersionedPair(int leftLength, int rightLength, boolean outer, PairCondition condition)
    implements Serializable {
  void open() {
    if (condition != null) {
      condition.open();
    }
  }

  /** Returns the joined row; null for none. The version is null if there is none. */
  Row joined(Row row, Row version) {
    boolean meets = version != null;
    if (meets && condition != null) {
      condition.fix(true, row);
      meets = condition.holds(true, version);
    }
    return meets || outer
        ? JoinOutput.joined(row, meets ? version : null, leftLength, rightLength)
        : null;
  }
}
