package io.streamtable.codec;

/** Bytes that are not what the format and the schema promise; says the field, never the position. */
public final class DecodeException extends Exception {
  private final String field;
  private final String reason;

  public DecodeException(String reason) {
    this(null, reason);
  }

  private DecodeException(String field, String reason) {
    // No stack trace: a topic full of bad records under ignore-parse-errors must stay cheap.
    super(field == null ? reason : "field '" + field + "': " + reason, null, false, false);
    this.field = field;
    this.reason = reason;
  }

  /** The same fault, seen from the row that holds the field. */
  DecodeException in(String name) {
    return new DecodeException(field == null ? name : name + "." + field, reason);
  }
}
