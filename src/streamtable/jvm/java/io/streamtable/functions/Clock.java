package io.streamtable.functions;

/** The current time of the machine that processes a row. */
public final class Clock {
  private static final long MICROS_PER_MILLI = 1000;

  private Clock() {}

  /**
   * Returns the current time in whole milliseconds, as Spark's TIMESTAMP: microseconds since the
   * epoch.
   */
  @SqlFunction(value = "TIMESTAMP", takesNulls = true, deterministic = false)
  public static long now() {
    return System.currentTimeMillis() * MICROS_PER_MILLI;
  }
}
