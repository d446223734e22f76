package io.streamtable.operators.match;

/** Where the search continues after a match. */
public enum SkipTo {
  PAST_LAST_ROW,
  NEXT_ROW,
  FIRST,
  LAST
}
