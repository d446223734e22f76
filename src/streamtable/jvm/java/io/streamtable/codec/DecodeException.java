package io.streamtable.codec;

/**
 * Bytes that do not match the format and the schema. The message names the field, never the
 * position.
 */
public final class DecodeException extends Exception {
  private final String field;
  private final String reason;
  private final boolean outage;

  public DecodeException(String reason) {
    this(null, reason, false);
  }

  private DecodeException(String field, String reason, boolean outage) {
    // No stack trace: a topic with many bad records under ignore-parse-errors must stay cheap.
    super(field == null ? reason : "field '" + field + "': " + reason, null, false, false);
    this.field = field;
    this.reason = reason;
    this.outage = outage;
  }

  /** Returns the error of an external system without which the bytes cannot be decoded now. */
  public static DecodeException outage(String reason) {
    return new DecodeException(null, reason, true);
  }

  /** Returns whether the bytes may be valid, because only an external system is at fault. */
  public boolean isOutage() {
    return outage;
  }

  /** Returns the same error with the field of the enclosing row in front. */
  public DecodeException in(String name) {
    return new DecodeException(field == null ? name : name + "." + field, reason, outage);
  }
}
