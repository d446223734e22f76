package io.streamtable.functions;

/**
 * Converts epoch numbers to instants, Spark's TIMESTAMP in microseconds. As in Flink, an instant is
 * null outside of the years 0 to 9999.
 */
public final class Instants {
  private static final long MICROS_PER_MILLI = 1000;
  private static final long MICROS_PER_SECOND = 1_000_000;
  /** The seconds of 0000-01-01 and of 10000-01-01, in UTC. */
  private static final long FIRST_SECOND = -62_167_219_200L;

  private static final long END_SECOND = 253_402_300_800L;
  private static final long MILLIS_PER_SECOND = 1000;

  private Instants() {}

  /** Converts epoch milliseconds. */
  @SqlFunction("TIMESTAMP")
  public static Long epochMillis(long millis) {
    return millis < FIRST_SECOND * MILLIS_PER_SECOND || millis >= END_SECOND * MILLIS_PER_SECOND
        ? null
        : Long.valueOf(millis * MICROS_PER_MILLI);
  }

  /** Converts epoch seconds. */
  @SqlFunction("TIMESTAMP")
  public static Long epochSeconds(long seconds) {
    return seconds < FIRST_SECOND || seconds >= END_SECOND
        ? null
        : Long.valueOf(seconds * MICROS_PER_SECOND);
  }
}
