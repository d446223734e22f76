package io.streamtable.operators;

import java.io.Serializable;
import org.apache.spark.sql.types.StructType;

/**
 * What a {@link JoinProcessor} does.
 *
 * @param leftKey positions that tell left rows of one join key apart; see {@link JoinSide#of}
 * @param condition what pairs must fulfil beside equal keys; null for nothing
 * @param outputKey positions of columns that make an update of a delete and an insert; may be null
 * @param before whether an update comes with the row it replaces
 */
record JoinSpec(
    JoinKind kind,
    StructType left,
    int[] leftKey,
    StructType right,
    int[] rightKey,
    PairCondition condition,
    int[] outputKey,
    boolean before)
    implements Serializable {}
