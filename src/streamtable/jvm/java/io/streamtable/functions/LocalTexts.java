package io.streamtable.functions;

import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.util.TimestampFormatter;
import org.apache.spark.sql.catalyst.util.TimestampFormatter$;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The texts of local times, as of Spark's CAST: `yyyy-MM-dd HH:mm:ss`, then the digits of the
 * fraction up to the last one that is not 0. Spark's formatter makes several objects for each text. It
 * writes the years that do not have four digits.
 */
public final class LocalTexts {
  /** The length of a text without a fraction. */
  public static final int LENGTH = "yyyy-MM-dd HH:mm:ss".length();

  private static final int DATE_LENGTH = "yyyy-MM-dd".length();
  private static final int DIGITS = 6;
  private static final int RADIX = 10;
  private static final int CENTURY = 100;
  private static final int MINUTE = 60;
  private static final int HOUR = 3600;
  private static final int DAY = 86_400;
  private static final long SECOND = 1_000_000;
  private static final int LAST_YEAR = 9999;
  private static final TimestampFormatter SPARKS =
      TimestampFormatter$.MODULE$.getFractionFormatter(ZoneOffset.UTC);

  private LocalTexts() {}

  /** Returns the text of a time in microseconds since the epoch. */
  public static UTF8String time(long micros) {
    int fraction = (int) Math.floorMod(micros, SECOND);
    byte[] text = new byte[fraction == 0 ? LENGTH : LENGTH + 1 + DIGITS];
    if (!write(text, micros)) {
      return UTF8String.fromString(SPARKS.format(micros));
    }
    if (fraction == 0) {
      return UTF8String.fromBytes(text);
    }
    text[LENGTH] = '.';
    int end = text.length;
    int rest = fraction;
    for (int at = text.length - 1; at > LENGTH; at--) {
      text[at] = (byte) ('0' + rest % RADIX);
      rest /= RADIX;
    }
    while (text[end - 1] == '0') {
      end--;
    }
    return UTF8String.fromBytes(text, 0, end);
  }

  /** Returns a part of a text, which must lie before the fraction. */
  public static UTF8String part(long micros, int from, int length) {
    byte[] text = new byte[LENGTH];
    if (!write(text, micros)) {
      text = SPARKS.format(micros).getBytes(StandardCharsets.US_ASCII);
    }
    return UTF8String.fromBytes(Arrays.copyOfRange(text, from, from + length));
  }

  /** Writes a time without its fraction. Returns whether its year has four digits. */
  private static boolean write(byte[] text, long micros) {
    long seconds = Math.floorDiv(micros, SECOND);
    if (!writeDate(text, Math.floorDiv(seconds, DAY))) {
      return false;
    }
    int second = Math.floorMod(seconds, DAY);
    text[DATE_LENGTH] = ' ';
    two(text, DATE_LENGTH + 1, second / HOUR);
    text[DATE_LENGTH + 3] = ':';
    two(text, DATE_LENGTH + 4, second / MINUTE % MINUTE);
    text[DATE_LENGTH + 6] = ':';
    two(text, DATE_LENGTH + 7, second % MINUTE);
    return true;
  }

  private static boolean writeDate(byte[] text, long days) {
    LocalDate date = LocalDate.ofEpochDay(days);
    int year = date.getYear();
    if (year < 0 || year > LAST_YEAR) {
      return false;
    }
    two(text, 0, year / CENTURY);
    two(text, 2, year % CENTURY);
    text[4] = '-';
    two(text, 5, date.getMonthValue());
    text[7] = '-';
    two(text, 8, date.getDayOfMonth());
    return true;
  }

  private static void two(byte[] text, int at, int number) {
    text[at] = (byte) ('0' + number / RADIX);
    text[at + 1] = (byte) ('0' + number % RADIX);
  }
}
