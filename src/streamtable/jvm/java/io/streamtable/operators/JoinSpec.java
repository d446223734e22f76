package io.streamtable.operators;

import java.io.Serializable;
import org.apache.spark.sql.types.StructType;

/**
 * What a {@link JoinProcessor} does.
 *
 * @param leftAt where the left row stands in an input row; the right one follows
 * @param leftUpserts whether left rows come as upserts, each to replace the last one of its key
 * @param leftKey positions that tell left rows of one join key apart; see {@link JoinSide#of}
 * @param condition what pairs must fulfil beside equal keys; null for nothing
 * @param outputKey positions of columns that make an update of a delete and an insert; may be null
 * @param before whether an update comes with the row it replaces
 * @param leftTtl how long left rows are kept; see {@link ExpiringState#of}
 */
record JoinSpec(
    JoinKind kind,
    int leftAt,
    StructType left,
    int[] leftKey,
    boolean leftUpserts,
    StructType right,
    int[] rightKey,
    boolean rightUpserts,
    PairCondition condition,
    int[] outputKey,
    boolean before,
    long leftTtl,
    long rightTtl)
    implements Serializable {
  /** Whether a row may be gone that was never taken back. */
  boolean expires() {
    return leftTtl > 0 || rightTtl > 0;
  }
}
