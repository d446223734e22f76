package io.streamtable.functions;

/** The time of day of the machine that works on a row. */
public final class Clock {
  private static final long MICROS_PER_MILLI = 1000;

  private Clock() {}

  /** Now, in whole milliseconds, as Spark's TIMESTAMP counts: microseconds since the epoch. */
  public static long now() {
    return System.currentTimeMillis() * MICROS_PER_MILLI;
  }
}
