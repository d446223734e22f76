package io.streamtable.codec;

import java.io.Serializable;

/** What becomes of a record that does not parse: the end of the job, a count, or a dead letter. */
public final class ReadFaults implements Serializable {
  /** Records that did not parse and that the user allows to be skipped. */
  public static final String PARSE_ERRORS = "parseErrors";
  /** Records that did not parse and that another topic keeps. */
  public static final String DEAD_LETTERS = "deadLetters";

  private final boolean skipKeyErrors;
  private final boolean skipValueErrors;
  private final DeadLetters letters;
  private final Counters counters;

  /**
   * @param skipKeyErrors whether a record whose key does not parse is left out and counted
   * @param skipValueErrors the same for the value
   * @param letters takes all other records that do not parse; null lets them end the job
   * @param counters holds every name that this class declares
   */
  public ReadFaults(
      boolean skipKeyErrors, boolean skipValueErrors, DeadLetters letters, Counters counters) {
    this.skipKeyErrors = skipKeyErrors;
    this.skipValueErrors = skipValueErrors;
    this.letters = letters;
    this.counters = counters;
  }

  /** Returns once the record has been dealt with. */
  void handle(SourceRecord record, boolean inKey, String format, DecodeException why) {
    String part = inKey ? "key" : "value";
    String reason = part + " is not valid " + format + ": " + why.getMessage();
    if (inKey ? skipKeyErrors : skipValueErrors) {
      counters.add(PARSE_ERRORS, 1);
    } else if (letters != null) {
      letters.take(record, part, reason);
      counters.add(DEAD_LETTERS, 1);
    } else {
      throw new RecordException(
          String.format(
              "topic '%s' partition %d offset %d: %s",
              record.topic(), record.partition(), record.offset(), reason));
    }
  }
}
