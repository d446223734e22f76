package io.streamtable.operators.accumulator;

/** The partial aggregate of one group in one task, which is shuffled to the group's state. */
public interface Partial {
  /** Adds ({@code sign} 1) or retracts (-1) a value that is not null. */
  void add(Object value, int sign);

  /** Writes the columns that {@link Accumulator#partialColumns} lists. */
  void export(Object[] row, int at);
}
