package io.streamtable.operators;

/** What the rows of one group in one task add up to, before they travel to the group's state. */
interface Partial {
  /** Adds ({@code sign} 1) or takes back (-1) a value that is not null. */
  void add(Object value, int sign);

  /** Writes the columns that {@link Accumulator#partialColumns} names. */
  void export(Object[] row, int at);
}
