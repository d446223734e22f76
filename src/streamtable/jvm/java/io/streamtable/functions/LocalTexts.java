package io.streamtable.functions;

import io.streamtable.codec.TimeText;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The texts of local times, as of Spark's CAST: `yyyy-MM-dd HH:mm:ss`, then the digits of the
 * fraction up to the last one that is not 0. Spark's formatter makes several objects for each text.
 */
public final class LocalTexts {
  private static final TimeText TEXTS = new TimeText(false);

  private LocalTexts() {}

  /** Returns the text of a time in microseconds since the epoch. */
  public static UTF8String time(long micros) {
    return UTF8String.fromBytes(TEXTS.timestamp(micros));
  }

  /** Returns a part of a text, which must lie before the fraction. */
  public static UTF8String part(long micros, int from, int length) {
    return UTF8String.fromBytes(TEXTS.timestamp(micros), from, length);
  }
}
