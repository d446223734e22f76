package io.streamtable.codec;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.YearMonth;
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

  private static final int DATE_LENGTH = "yyyy-MM-dd".length();
  private static final int TIME_LENGTH = "HH:mm:ss".length();
  /** What the fast path returns for a text that it leaves to a formatter. */
  private static final long UNUSUAL = Long.MIN_VALUE;
  private static final int NO_DIGITS = 1_000_000;

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
    byte[] in = text.getBytes(StandardCharsets.UTF_8);
    long days = in.length == DATE_LENGTH ? usualDate(in, 0) : UNUSUAL;
    return Math.toIntExact(days == UNUSUAL ? LocalDate.parse(text).toEpochDay() : days);
  }

  public static String formatDate(int days) {
    return LocalDate.ofEpochDay(days).toString();
  }

  /**
   * Returns nanoseconds of the day, truncated to the digits of the type and to milliseconds: a
   * Flink TIME has milliseconds at most, whatever its type says.
   */
  public static long parseTime(String text, int digits) {
    byte[] in = text.getBytes(StandardCharsets.UTF_8);
    long micros = usualTime(in, 0, in.length);
    long nanos =
        micros == UNUSUAL
            ? TIME.parse(text).query(TemporalQueries.localTime()).toNanoOfDay()
            : micros * 1_000L;
    return nanos - nanos % TIME_UNITS[Math.min(digits, 3)];
  }

  public static String formatTime(long nanos) {
    return TIME.format(LocalTime.ofNanoOfDay(nanos));
  }

  /** Returns microseconds since 1970-01-01 00:00 in the local time of the text. */
  public long parseTimestamp(String text) {
    long micros = usual(text, false);
    return micros == UNUSUAL ? parse(local, text) : micros;
  }

  /** Parses like {@link #parseTimestamp(String)}, from UTF-8. */
  public long parseTimestamp(byte[] in, int start, int end) {
    long micros = usual(in, start, end);
    return micros == UNUSUAL ? parse(local, text(in, start, end)) : micros;
  }

  /** Returns microseconds since 1970-01-01 00:00 UTC for a text that ends in Z. */
  public long parseInstant(String text) {
    long micros = usual(text, true);
    return micros == UNUSUAL ? parse(utc, text) : micros;
  }

  /** Parses like {@link #parseInstant(String)}, from UTF-8. */
  public long parseInstant(byte[] in, int start, int end) {
    long micros = usualInUtc(in, start, end);
    return micros == UNUSUAL ? parse(utc, text(in, start, end)) : micros;
  }

  /**
   * Parses like parseTimestamp, but accepts hour 24 as hour 0 of the next day. Flink's csv accepts
   * it, its json does not.
   */
  public long parseDateTime(String text) {
    long micros = usual(text, false);
    return micros == UNUSUAL ? parseDateTime(local, text) : micros;
  }

  /**
   * Parses a text that ends in Z like parseInstant, but accepts hour 24 as hour 0 of the next day.
   */
  public long parseDateTimeZ(String text) {
    long micros = usual(text, true);
    return micros == UNUSUAL ? parseDateTime(utc, text) : micros;
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

  private static String text(byte[] in, int start, int end) {
    return new String(in, start, end - start, StandardCharsets.UTF_8);
  }

  private long usual(String text, boolean inUtc) {
    byte[] in = text.getBytes(StandardCharsets.UTF_8);
    return inUtc ? usualInUtc(in, 0, in.length) : usual(in, 0, in.length);
  }

  private long usualInUtc(byte[] in, int start, int end) {
    return end > start && in[end - 1] == 'Z' ? usual(in, start, end - 1) : UNUSUAL;
  }

  /** Returns the microseconds of a usual date, the separator and a usual time. */
  private long usual(byte[] in, int start, int end) {
    int time = start + DATE_LENGTH + 1;
    if (end < time || in[time - 1] != separator) {
      return UNUSUAL;
    }
    long days = usualDate(in, start);
    long micros = usualTime(in, time, end);
    return days == UNUSUAL || micros == UNUSUAL ? UNUSUAL : days * MICROS_PER_DAY + micros;
  }

  /**
   * Returns the days of a date dddd-dd-dd that exists. The formatters have rules of their own for
   * days after the end of a month.
   */
  private static long usualDate(byte[] in, int start) {
    int year = two(in, start) * 100 + two(in, start + 2);
    int month = two(in, start + 5);
    int day = two(in, start + 8);
    boolean fits =
        (year | month | day) >= 0
            && in[start + 4] == '-'
            && in[start + 7] == '-'
            && month >= 1
            && month <= 12
            && day >= 1
            && (day <= 28 || day <= YearMonth.of(year, month).lengthOfMonth());
    return fits ? LocalDate.of(year, month, day).toEpochDay() : UNUSUAL;
  }

  /**
   * Returns the microseconds of a time dd:dd:dd, which one to nine digits of a fraction may follow.
   * The formatters have rules of their own for hour 24.
   */
  private static long usualTime(byte[] in, int start, int end) {
    int length = end - start;
    if (length != TIME_LENGTH && (length < TIME_LENGTH + 2 || length > TIME_LENGTH + 10)) {
      return UNUSUAL;
    }
    int hour = two(in, start);
    int minute = two(in, start + 3);
    int second = two(in, start + 6);
    boolean fits =
        (hour | minute | second) >= 0
            && in[start + 2] == ':'
            && in[start + 5] == ':'
            && hour <= 23
            && minute <= 59
            && second <= 59
            && (length == TIME_LENGTH || in[start + TIME_LENGTH] == '.');
    if (!fits) {
      return UNUSUAL;
    }
    int fraction = 0;
    int unit = (int) MICROS_PER_SECOND;
    for (int at = start + TIME_LENGTH + 1; at < end; at++) {
      int digit = in[at] - '0';
      if (digit < 0 || digit > 9) {
        return UNUSUAL;
      }
      unit /= 10;
      fraction += digit * unit;
    }
    return (hour * 3_600L + minute * 60L + second) * MICROS_PER_SECOND + fraction;
  }

  /** Returns the number of two digits; for other bytes a negative number below all sums of ours. */
  private static int two(byte[] in, int at) {
    int tens = in[at] - '0';
    int ones = in[at + 1] - '0';
    return (tens | ones | 9 - tens | 9 - ones) < 0 ? -NO_DIGITS : tens * 10 + ones;
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
