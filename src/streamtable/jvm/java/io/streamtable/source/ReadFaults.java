package io.streamtable.source;

import io.streamtable.codec.DecodeException;
import io.streamtable.metrics.Counters;
import java.io.Serializable;

/**
 * Handles records that cannot be parsed: fails the job, counts the record, or writes a dead letter.
 */
public final class ReadFaults implements Serializable {
  /** Counter of records that could not be parsed and that the user allows to be skipped. */
  public static final String PARSE_ERRORS = "parseErrors";
  /** Counter of records that could not be parsed and were written to another topic. */
  public static final String DEAD_LETTERS = "deadLetters";

  private final boolean skipKeyErrors;
  private final boolean skipValueErrors;
  private final DeadLetters letters;
  private final String place;
  private final Counters counters;

  /**
   * @param skipKeyErrors whether to skip and count a record whose key cannot be parsed
   * @param skipValueErrors whether to skip and count a record whose value cannot be parsed
   * @param letters receives all other records that cannot be parsed; null fails the job instead
   * @param place place of a record in messages: a format string for topic, partition and offset
   * @param counters counters with all names that this class declares
   */
  public ReadFaults(
      boolean skipKeyErrors,
      boolean skipValueErrors,
      DeadLetters letters,
      String place,
      Counters counters) {
    this.skipKeyErrors = skipKeyErrors;
    this.skipValueErrors = skipValueErrors;
    this.letters = letters;
    this.place = place;
    this.counters = counters;
  }

  /** Handles the record; returns unless the job must fail. */
  void handle(SourceRecord record, boolean inKey, String format, DecodeException why) {
    String part = inKey ? "key" : "value";
    String reason = part + " is not valid " + format + ": " + why.getMessage();
    boolean skips = inKey ? skipKeyErrors : skipValueErrors;
    // During an outage, valid records would be skipped.
    if (skips && !why.isOutage()) {
      counters.add(PARSE_ERRORS, 1);
    } else if (letters != null && !why.isOutage()) {
      letters.take(record, part, reason);
      counters.add(DEAD_LETTERS, 1);
    } else {
      String found = String.format(place, record.topic(), record.partition(), record.offset());
      throw new RecordException(found + ": " + reason);
    }
  }
}
