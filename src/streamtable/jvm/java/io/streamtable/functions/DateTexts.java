package io.streamtable.functions;

import java.text.ParsePosition;
import java.text.SimpleDateFormat;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.util.Date;
import java.util.Locale;
import java.util.TimeZone;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Formats and parses dates and times with Java's patterns. `format` and `parse` use
 * `DateTimeFormatter`, here without a time zone; the `Legacy` functions use `SimpleDateFormat`.
 * Timestamps are in microseconds.
 */
public final class DateTexts {
  private static final Cache<DateTimeFormatter> FORMATTERS =
      new Cache<>(pattern -> DateTimeFormatter.ofPattern(pattern, Locale.US));
  private static final Cache<SimpleDateFormat> LEGACY =
      new Cache<>(pattern -> new SimpleDateFormat(pattern, Locale.US));
  private static final UTF8String USUAL = UTF8String.fromString("yyyy-MM-dd HH:mm:ss");
  private static final long MICROS_PER_SECOND = 1_000_000;
  private static final long MICROS_PER_MILLI = 1000;
  private static final long MILLIS_PER_SECOND = 1000;
  private static final int EPOCH_YEAR = 1970;

  private DateTexts() {}

  /** Formats a TIMESTAMP. A pattern that requires a zone fails. */
  @SqlFunction("STRING")
  public static UTF8String format(long local, UTF8String pattern) {
    LocalDateTime moment = DateTimeUtils.microsToLocalDateTime(local);
    return UTF8String.fromString(moment.format(FORMATTERS.get(pattern)));
  }

  /** Formats epoch seconds. */
  @SqlFunction("STRING")
  public static UTF8String formatLegacy(long seconds, UTF8String pattern, UTF8String zone) {
    SimpleDateFormat format = legacy(pattern, zone(zone));
    return UTF8String.fromString(format.format(new Date(seconds * MILLIS_PER_SECOND)));
  }

  /**
   * Parses a TIMESTAMP of whole milliseconds; null if the text is invalid. Missing fields default
   * to the epoch's. A zone in the text is parsed and ignored.
   */
  @SqlFunction("TIMESTAMP_NTZ")
  public static Long parse(UTF8String text, UTF8String pattern) {
    DateTimeFormatter formatter;
    try {
      formatter = FORMATTERS.get(pattern);
    } catch (IllegalArgumentException broken) {
      return null;
    }
    try {
      TemporalAccessor found = formatter.parse(text.toString());
      LocalDateTime moment =
          LocalDateTime.of(
              field(found, ChronoField.YEAR, EPOCH_YEAR),
              field(found, ChronoField.MONTH_OF_YEAR, 1),
              field(found, ChronoField.DAY_OF_MONTH, 1),
              field(found, ChronoField.HOUR_OF_DAY, 0),
              field(found, ChronoField.MINUTE_OF_HOUR, 0),
              field(found, ChronoField.SECOND_OF_MINUTE, 0));
      long millis = field(found, ChronoField.NANO_OF_SECOND, 0) / MICROS_PER_SECOND;
      return moment.toEpochSecond(ZoneOffset.UTC) * MICROS_PER_SECOND + millis * MICROS_PER_MILLI;
    } catch (DateTimeParseException none) {
      return JdbcTexts.parse(text.toString());
    }
  }

  /**
   * Parses a text like {@link #parse}, but as an instant in a time zone; null if the time zone does
   * not exist.
   */
  @SqlFunction("TIMESTAMP")
  public static Long parseIn(UTF8String text, UTF8String pattern, UTF8String zone) {
    Long local = parse(text, pattern);
    try {
      ZoneId known = ZoneId.of(zone.toString());
      return local == null ? null : (Long) DateTimeUtils.toUTCTime(local, known.getId());
    } catch (DateTimeException unknown) {
      return null;
    }
  }

  private static int field(TemporalAccessor found, ChronoField field, int otherwise) {
    return found.isSupported(field) ? found.get(field) : otherwise;
  }

  /**
   * Parses an instant; null if the text is invalid. Text after the end of the pattern is ignored.
   */
  @SqlFunction("TIMESTAMP")
  public static Long parseLegacy(UTF8String text, UTF8String pattern, UTF8String zone) {
    Date found =
        legacy(pattern, zone(zone)).parse(text.toString(), new ParsePosition(0));
    return found == null ? null : (Long) (found.getTime() * MICROS_PER_MILLI);
  }

  /** Converts a text from one time zone to another. A zone that Java does not know is GMT. */
  @SqlFunction("STRING")
  public static UTF8String convertTz(UTF8String text, UTF8String from, UTF8String to) {
    Date found =
        legacy(USUAL, TimeZone.getTimeZone(from.toString()))
            .parse(text.toString(), new ParsePosition(0));
    if (found == null) {
      return null;
    }
    SimpleDateFormat format = legacy(USUAL, TimeZone.getTimeZone(to.toString()));
    return UTF8String.fromString(format.format(found));
  }

  private static TimeZone zone(UTF8String name) {
    return TimeZone.getTimeZone(ZoneId.of(name.toString()));
  }

  private static SimpleDateFormat legacy(UTF8String pattern, TimeZone zone) {
    SimpleDateFormat format = LEGACY.get(pattern);
    // A zone in a parsed text has changed the format's own zone.
    format.setTimeZone(zone);
    return format;
  }
}
