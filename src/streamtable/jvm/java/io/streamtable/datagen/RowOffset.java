package io.streamtable.datagen;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.connector.read.streaming.Offset;

/**
 * An offset: the number of rows so far, the seed of their values, and the time when the last rows
 * were planned.
 */
final class RowOffset extends Offset {
  private static final Pattern JSON =
      Pattern.compile("\\{\"rows\":(\\d+),\"seed\":(-?\\d+),\"micros\":(\\d+)}");

  private final long rows;
  private final long seed;
  private final long micros;

  RowOffset(long rows, long seed, long micros) {
    this.rows = rows;
    this.seed = seed;
    this.micros = micros;
  }

  static RowOffset of(String json) {
    Matcher found = JSON.matcher(json);
    if (!found.matches()) {
      throw new IllegalArgumentException("not an offset of datagen: " + json);
    }
    return new RowOffset(
        Long.parseLong(found.group(1)),
        Long.parseLong(found.group(2)),
        Long.parseLong(found.group(3)));
  }

  long rows() {
    return rows;
  }

  long seed() {
    return seed;
  }

  long micros() {
    return micros;
  }

  @Override
  public String json() {
    return "{\"rows\":" + rows + ",\"seed\":" + seed + ",\"micros\":" + micros + "}";
  }
}
