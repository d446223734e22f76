package io.streamtable.codec;

import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalQueries;

/**
 * Parses and formats times in the two standards of Flink's formats, 'SQL' (a blank between date and
 * time) and 'ISO-8601' (a T), with as many fractional digits as the value needs.
 *
 * <p>The formatters define which texts are valid. Texts of the usual shape have a fast path,
 * because parsing with a formatter costs more than the rest of a record.
 */
public final class TimeText {
  /** The length of a local time without a fraction. */
  public static final int LENGTH = "yyyy-MM-dd HH:mm:ss".length();

  private static final long MICROS_PER_SECOND = 1_000_000L;
  private static final long MICROS_PER_DAY = 86_400L * MICROS_PER_SECOND;
  private static final long[] TIME_UNITS = {1_000_000_000L, 100_000_000L, 10_000_000L, 1_000_000L};
  private static final DateTimeFormatter TIME =
      new DateTimeFormatterBuilder()
          .appendPattern("HH:mm:ss")
          .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
          .toFormatter();

  private final char separator;
  private final DateTimeFormatter local;
  private final DateTimeFormatter utc;

  public TimeText(boolean iso) {
    separator = iso ? 'T' : ' ';
    DateTimeFormatter time = iso ? DateTimeFormatter.ISO_LOCAL_TIME : TIME;
    DateTimeFormatter both =
        new DateTimeFormatterBuilder()
            .append(DateTimeFormatter.ISO_LOCAL_DATE)
            .appendLiteral(separator)
            .append(time)
            .toFormatter();
    local = iso ? DateTimeFormatter.ISO_LOCAL_DATE_TIME : both;
    utc = new DateTimeFormatterBuilder().append(both).appendLiteral('Z').toFormatter();
  }

  /** Returns days since 1970-01-01. */
  public static int parseDate(String text) {
    return Math.toIntExact(LocalDate.parse(text).toEpochDay());
  }

  public static String formatDate(int days) {
    return LocalDate.ofEpochDay(days).toString();
  }

  /**
   * Returns nanoseconds of the day, truncated to the digits of the type and to milliseconds: a
   * Flink TIME has milliseconds at most, whatever its type says.
   */
  public static long parseTime(String text, int digits) {
    long nanos = TIME.parse(text).query(TemporalQueries.localTime()).toNanoOfDay();
    return nanos - nanos % TIME_UNITS[Math.min(digits, 3)];
  }

  public static String formatTime(long nanos) {
    return TIME.format(LocalTime.ofNanoOfDay(nanos));
  }

  /** Returns microseconds since 1970-01-01 00:00 in the local time of the text. */
  public long parseTimestamp(String text) {
    return isUsual(text, text.length()) ? usual(text, text.length()) : parse(local, text);
  }

  /** Returns microseconds since 1970-01-01 00:00 UTC for a text that ends in Z. */
  public long parseInstant(String text) {
    int end = text.length() - 1;
    return end > 0 && text.charAt(end) == 'Z' && isUsual(text, end)
        ? usual(text, end)
        : parse(utc, text);
  }

  /**
   * Parses like parseTimestamp, but accepts hour 24 as hour 0 of the next day. Flink's csv accepts
   * it, its json does not.
   */
  public long parseDateTime(String text) {
    return isUsual(text, text.length()) ? usual(text, text.length()) : parseDateTime(local, text);
  }

  /**
   * Parses a text that ends in Z like parseInstant, but accepts hour 24 as hour 0 of the next day.
   */
  public long parseDateTimeZ(String text) {
    int end = text.length() - 1;
    return end > 0 && text.charAt(end) == 'Z' && isUsual(text, end)
        ? usual(text, end)
        : parseDateTime(utc, text);
  }

  public String formatTimestamp(long micros) {
    return new String(timestamp(micros), StandardCharsets.ISO_8859_1);
  }

  /** Formats like formatTimestamp, in ASCII. */
  public byte[] timestamp(long micros) {
    long days = Math.floorDiv(micros, MICROS_PER_DAY);
    LocalDate date = LocalDate.ofEpochDay(days);
    if (date.getYear() < 0 || date.getYear() > 9999) {
      LocalDateTime unusual = LocalDateTime.ofInstant(instant(micros), ZoneOffset.UTC);
      return local.format(unusual).getBytes(StandardCharsets.ISO_8859_1);
    }
    return usual(date, micros - days * MICROS_PER_DAY, false);
  }

  public String formatInstant(long micros) {
    long days = Math.floorDiv(micros, MICROS_PER_DAY);
    LocalDate date = LocalDate.ofEpochDay(days);
    if (date.getYear() < 0 || date.getYear() > 9999) {
      return utc.format(instant(micros).atOffset(ZoneOffset.UTC));
    }
    byte[] text = usual(date, micros - days * MICROS_PER_DAY, true);
    return new String(text, StandardCharsets.ISO_8859_1);
  }

  private static Instant instant(long micros) {
    long seconds = Math.floorDiv(micros, MICROS_PER_SECOND);
    return Instant.ofEpochSecond(seconds, (micros - seconds * MICROS_PER_SECOND) * 1_000L);
  }

  private static long parse(DateTimeFormatter formatter, String text) {
    TemporalAccessor parsed = formatter.parse(text);
    LocalDate date = parsed.query(TemporalQueries.localDate());
    long nanos = parsed.query(TemporalQueries.localTime()).toNanoOfDay();
    return micros(date, nanos / 1_000L);
  }

  private static long parseDateTime(DateTimeFormatter formatter, String text) {
    LocalDateTime parsed = LocalDateTime.parse(text, formatter);
    return micros(parsed.toLocalDate(), parsed.toLocalTime().toNanoOfDay() / 1_000L);
  }

  private static long micros(LocalDate date, long microsOfDay) {
    return Math.addExact(Math.multiplyExact(date.toEpochDay(), MICROS_PER_DAY), microsOfDay);
  }

  /** Returns whether the text is dddd-dd-dd?dd:dd:dd followed by up to nine fractional digits. */
  private boolean isUsual(String text, int end) {
    if (end < 19 || end == 20 || end > 29 || text.charAt(10) != separator) {
      return false;
    }
    for (int i = 0; i < end; i++) {
      char c = text.charAt(i);
      boolean fits =
          switch (i) {
            case 4, 7 -> c == '-';
            case 10 -> true;
            case 13, 16 -> c == ':';
            case 19 -> c == '.';
            default -> c >= '0' && c <= '9';
          };
      if (!fits) {
        return false;
      }
    }
    // The formatters have special rules for days after the end of a month and for hour 24.
    return digits(text, 8, 10) <= 28 && digits(text, 11, 13) < 24;
  }

  private static long usual(String text, int end) {
    LocalDate date = LocalDate.of(digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10));
    int minute = digits(text, 14, 16);
    int second = digits(text, 17, 19);
    if (minute > 59 || second > 59) {
      throw new DateTimeException("minute or second out of range");
    }
    int fraction = 0;
    for (int i = 20; i < 26; i++) {
      fraction = fraction * 10 + (i < end ? text.charAt(i) - '0' : 0);
    }
    long seconds = digits(text, 11, 13) * 3_600L + minute * 60L + second;
    return micros(date, seconds * MICROS_PER_SECOND + fraction);
  }

  private static int digits(String text, int from, int to) {
    int number = 0;
    for (int i = from; i < to; i++) {
      number = number * 10 + text.charAt(i) - '0';
    }
    return number;
  }

  private byte[] usual(LocalDate date, long microsOfDay, boolean inUtc) {
    int seconds = (int) (microsOfDay / MICROS_PER_SECOND);
    int fraction = (int) (microsOfDay % MICROS_PER_SECOND);
    int digits = fraction == 0 ? 0 : 6;
    while (digits > 0 && fraction % 10 == 0) {
      fraction /= 10;
      digits--;
    }
    byte[] out = new byte[LENGTH + (digits == 0 ? 0 : 1 + digits) + (inUtc ? 1 : 0)];
    two(out, 0, date.getYear() / 100);
    two(out, 2, date.getYear() % 100);
    out[4] = '-';
    two(out, 5, date.getMonthValue());
    out[7] = '-';
    two(out, 8, date.getDayOfMonth());
    out[10] = (byte) separator;
    two(out, 11, seconds / 3_600);
    out[13] = ':';
    two(out, 14, seconds / 60 % 60);
    out[16] = ':';
    two(out, 17, seconds % 60);
    for (int at = LENGTH + digits; at > LENGTH; at--) {
      out[at] = (byte) ('0' + fraction % 10);
      fraction /= 10;
    }
    if (digits > 0) {
      out[LENGTH] = '.';
    }
    if (inUtc) {
      out[out.length - 1] = 'Z';
    }
    return out;
  }

  private static void two(byte[] out, int at, int number) {
    out[at] = (byte) ('0' + number / 10);
    out[at + 1] = (byte) ('0' + number % 10);
  }
}
