package io.streamtable.files;

import static java.time.temporal.ChronoField.DAY_OF_MONTH;
import static java.time.temporal.ChronoField.HOUR_OF_DAY;
import static java.time.temporal.ChronoField.MINUTE_OF_HOUR;
import static java.time.temporal.ChronoField.MONTH_OF_YEAR;
import static java.time.temporal.ChronoField.NANO_OF_SECOND;
import static java.time.temporal.ChronoField.SECOND_OF_MINUTE;
import static java.time.temporal.ChronoField.YEAR;
import static java.time.format.SignStyle.NORMAL;

import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.format.ResolverStyle;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils;

/**
 * The time of a partition, from the values in the names of its directories.
 *
 * <p>The rules are those of Flink's default extractor: the options {@code
 * partition.time-extractor.*} on Flink's page <i>FileSystem</i>.
 */
public final class PartitionTime {
  private static final DateTimeFormatter DATE = date().toFormatter(Locale.ROOT);
  private static final DateTimeFormatter TIMESTAMP =
      date()
          .optionalStart()
          .appendLiteral(' ')
          .appendValue(HOUR_OF_DAY, 1, 2, NORMAL)
          .appendLiteral(':')
          .appendValue(MINUTE_OF_HOUR, 1, 2, NORMAL)
          .appendLiteral(':')
          .appendValue(SECOND_OF_MINUTE, 1, 2, NORMAL)
          .optionalStart()
          .appendFraction(NANO_OF_SECOND, 1, 9, true)
          .optionalEnd()
          .optionalEnd()
          .toFormatter(Locale.ROOT);

  private final String pattern;
  private final DateTimeFormatter formatter;
  private final ZoneId zone;

  /**
   * Creates an extractor.
   *
   * @param pattern text with the names of partition columns after {@code $}; null for the value of
   *     the first column
   * @param formatter format of the text; null for a timestamp or a date with Flink's separators
   * @param zone time zone of the partitions' times
   * @throws java.time.DateTimeException if there is no such zone
   * @throws IllegalArgumentException if the formatter is not one
   */
  public PartitionTime(String pattern, String formatter, String zone) {
    this.pattern = pattern;
    this.formatter = formatter == null ? null : DateTimeFormatter.ofPattern(formatter, Locale.ROOT);
    this.zone = ZoneId.of(zone);
  }

  /**
   * Returns the time of a partition in epoch milliseconds.
   *
   * @param partition directory below the table, such as {@code dt=2026-01-31/hour=7}
   * @throws DateTimeParseException if the values give no time
   */
  public long of(String partition) {
    String text = pattern;
    for (String directory : partition.split("/")) {
      String[] parts = directory.split("=", 2);
      String value = ExternalCatalogUtils.unescapePathName(parts[1]);
      if (text == null) {
        text = value;
      }
      if (pattern == null) {
        break;
      }
      String name = "\\$" + Pattern.quote(ExternalCatalogUtils.unescapePathName(parts[0]));
      text = text.replaceAll(name, Matcher.quoteReplacement(value));
    }
    return parsed(text).atZone(zone).toInstant().toEpochMilli();
  }

  private LocalDateTime parsed(String text) {
    List<DateTimeFormatter> formats =
        formatter == null
            ? List.of(TIMESTAMP.withResolverStyle(ResolverStyle.LENIENT),
                DATE.withResolverStyle(ResolverStyle.LENIENT))
            : List.of(formatter, formatter);
    try {
      return LocalDateTime.parse(text, formats.get(0));
    } catch (DateTimeParseException e) {
      return LocalDate.parse(text, formats.get(1)).atStartOfDay();
    }
  }

  private static DateTimeFormatterBuilder date() {
    return new DateTimeFormatterBuilder()
        .appendValue(YEAR, 1, 10, NORMAL)
        .appendLiteral('-')
        .appendValue(MONTH_OF_YEAR, 1, 2, NORMAL)
        .appendLiteral('-')
        .appendValue(DAY_OF_MONTH, 1, 2, NORMAL);
  }
}
