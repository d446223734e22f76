package io.streamtable.operators.join;

/** The output of a join: pairs, unmatched rows, or only the rows of its left input. */
enum JoinKind {
  INNER(true, false, false),
  LEFT(true, true, false),
  RIGHT(true, false, true),
  FULL(true, true, true),
  /** Left rows with a match: all left rows without the unmatched left rows. */
  SEMI(false, true, false),
  /** Left rows without a match. */
  ANTI(false, true, false);

  private final boolean pairs;
  private final boolean unmatchedLeft;
  private final boolean unmatchedRight;

  JoinKind(boolean pairs, boolean unmatchedLeft, boolean unmatchedRight) {
    this.pairs = pairs;
    this.unmatchedLeft = unmatchedLeft;
    this.unmatchedRight = unmatchedRight;
  }

  boolean pairs() {
    return pairs;
  }

  /** Returns whether the unmatched rows of a side affect the output. */
  boolean keepsUnmatched(boolean left) {
    return left ? unmatchedLeft : unmatchedRight;
  }
}
