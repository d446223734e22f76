package io.streamtable.operators;

/** What a join gives: pairs, rows without a partner, or only the rows of its left input. */
enum JoinKind {
  INNER(true, false, false),
  LEFT(true, true, false),
  RIGHT(true, false, true),
  FULL(true, true, true),
  /** Left rows that have a partner: all of them without those that have none. */
  SEMI(false, true, false),
  /** Left rows that have no partner. */
  ANTI(false, true, false);

  private final boolean pairs;
  private final boolean lonelyLeft;
  private final boolean lonelyRight;

  JoinKind(boolean pairs, boolean lonelyLeft, boolean lonelyRight) {
    this.pairs = pairs;
    this.lonelyLeft = lonelyLeft;
    this.lonelyRight = lonelyRight;
  }

  boolean pairs() {
    return pairs;
  }

  /** Whether rows of a side count that have no partner. */
  boolean lonely(boolean left) {
    return left ? lonelyLeft : lonelyRight;
  }
}
