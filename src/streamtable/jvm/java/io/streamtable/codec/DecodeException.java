package io.streamtable.codec;

/**
 * Bytes that do not match the format and the schema. The message names the field, never the
 * position.
 */
public final class DecodeException extends Exception {
  private final String field;
  private final String reason;

  public DecodeException(String reason) {
    this(null, reason);
  }

  private DecodeException(String field, String reason) {
    // No stack trace: a topic with many bad records under ignore-parse-errors must stay cheap.
    super(field == null ? reason : "field '" + field + "': " + reason, null, false, false);
    this.field = field;
    this.reason = reason;
  }

  /** Returns the same error with the field of the enclosing row in front. */
  public DecodeException in(String name) {
    return new DecodeException(field == null ? name : name + "." + field, reason);
  }
}
