package io.streamtable.functions;

import java.sql.Timestamp;
import java.time.ZoneOffset;

/** Parses the texts of `java.sql.Timestamp` and `java.sql.Date`, which TO_TIMESTAMP tries last. */
final class JdbcTexts {
  private static final String MIDNIGHT = " 00:00:00";
  private static final long MICROS_PER_SECOND = 1_000_000;
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long MICROS_PER_MILLI = 1000;

  private JdbcTexts() {}

  /** Parses a TIMESTAMP of whole milliseconds into microseconds; null if the text is invalid. */
  static Long parse(String text) {
    String trimmed = text.trim();
    try {
      // Times roll over (25:00:00 is 1:00:00 of the next day), and so do days up to 31.
      Timestamp read =
          Timestamp.valueOf(trimmed.indexOf(' ') > 0 ? trimmed : trimmed + MIDNIGHT);
      long millis = read.getNanos() / NANOS_PER_MILLI;
      long seconds = read.toLocalDateTime().toEpochSecond(ZoneOffset.UTC);
      return seconds * MICROS_PER_SECOND + millis * MICROS_PER_MILLI;
    } catch (IllegalArgumentException none) {
      return null;
    }
  }
}
