package io.streamtable.operators.state;

/** Measures two ways to read state, and chooses the faster one: by a search, or with a cursor. */
final class ReadChoice {
  /** Reads of a task before it opens a cursor, which costs as much as several reads. */
  private static final int SEARCHED = 256;

  /** Reads of a turn. A turn of searches comes first, and one with the cursor second. */
  private static final int TURN = 128;

  private static final int TURNS = 8;

  private int reads = -SEARCHED;
  private boolean cursor;
  private long turn;
  /** Nanoseconds of the fastest turn: others may have waited for a core. */
  private long searching = Long.MAX_VALUE;

  private long moving = Long.MAX_VALUE;

  /** Returns whether the next read must be measured. */
  boolean measures() {
    return reads < TURN * TURNS;
  }

  /** Returns whether the next read uses the cursor. */
  boolean usesCursor() {
    return cursor;
  }

  /** Takes the nanoseconds of a read that must be measured. */
  void took(long nanos) {
    turn += nanos;
    reads++;
    if (reads % TURN != 0) {
      return;
    }
    if (cursor) {
      moving = Math.min(moving, turn);
    } else if (reads > 0) {
      searching = Math.min(searching, turn);
    }
    cursor = measures() ? reads > 0 && !cursor : moving < searching;
    turn = 0;
  }
}
