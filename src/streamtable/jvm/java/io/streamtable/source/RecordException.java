package io.streamtable.source;

/**
 * An error in a record that fails the job. The message contains the record's place and is the only
 * text that a user sees.
 */
public final class RecordException extends RuntimeException {
  /** Python uses this prefix to find the message in the chain of Spark's exceptions. */
  private static final String PREFIX = "RECORD_UNREADABLE ";

  private static final int LONGEST = 400;

  RecordException(String message) {
    super(cut(PREFIX + message), null, false, false); // the place in our code does not help a user
  }

  private static String cut(String text) {
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST - 3) + "...";
  }
}
