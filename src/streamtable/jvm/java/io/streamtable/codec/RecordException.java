package io.streamtable.codec;

/** A record that ends the job; the message names its place and is all that a user gets to see. */
public final class RecordException extends RuntimeException {
  /** By this, Python finds the message in the chain of Spark's exceptions. */
  private static final String PREFIX = "RECORD_UNREADABLE ";

  private static final int LONGEST = 400;

  RecordException(String message) {
    super(cut(PREFIX + message), null, false, false); // where in our code says nothing to a user
  }

  private static String cut(String text) {
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST - 3) + "...";
  }
}
