package io.streamtable.operators.join;

import io.streamtable.operators.join.side.JoinSides;
import io.streamtable.operators.join.side.PairedSides;
import io.streamtable.operators.join.side.SeparateSides;
import io.streamtable.operators.join.side.StoredSide;
import io.streamtable.operators.state.ExpiringState;
import java.io.Serializable;
import org.apache.spark.sql.types.StructType;

/**
 * The specification of a {@link JoinProcessor}.
 *
 * @param leftAt position of the left row in an input row; the right row follows
 * @param leftUpserts whether left rows are upserts, each of which replaces the previous row of its
 *     key
 * @param leftKey positions that identify a left row within a join key; see {@link StoredSide#of}
 * @param leftUnique positions of a unique key of left rows without a left key; null if there is none.
 *     See {@link io.streamtable.operators.row.InexactRetractions}
 * @param leftAppends see {@link StoredSide#of}
 * @param leftBegins whether the first change of a left row may be a retraction; it is then ignored
 * @param paired whether both sides have at most one row per join key, and one state
 * @param condition condition of pairs in addition to equal keys; null for none
 * @param outputKey positions of the key columns that combine a delete and an insert into an update;
 *     may be null
 * @param before whether to emit update-before rows
 * @param leftTtl state TTL of left rows; see {@link ExpiringState#of}
 * @param positions whether output rows end with the position of an input row
 * @param leftWindows whether left rows are results of windows, whose positions are times
 */
record JoinSpec(
    JoinKind kind,
    int leftAt,
    StructType left,
    int[] leftKey,
    int[] leftUnique,
    boolean leftAppends,
    boolean leftUpserts,
    boolean leftBegins,
    StructType right,
    int[] rightKey,
    int[] rightUnique,
    boolean rightAppends,
    boolean rightUpserts,
    boolean rightBegins,
    boolean paired,
    PairCondition condition,
    int[] outputKey,
    boolean before,
    long leftTtl,
    long rightTtl,
    boolean positions,
    boolean leftWindows,
    boolean rightWindows)
    implements Serializable {
  /** Returns the position of Kafka's partition in an input row; the offset follows. */
  int positionAt() {
    return leftAt + 2;
  }

  /** Returns the state of both inputs. */
  JoinSides sides() {
    return paired
        ? new PairedSides(left, right, condition != null)
        : new SeparateSides(
            StoredSide.of(left, leftKey, leftAppends),
            StoredSide.of(right, rightKey, rightAppends),
            leftTtl,
            rightTtl);
  }

  /** Returns whether a row may expire without a retraction. */
  boolean expires() {
    return leftTtl > 0 || rightTtl > 0;
  }
}
