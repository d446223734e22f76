package io.streamtable.codec;

/** A row that its format cannot write. The message begins with a name that Python recognises. */
public final class EncodeException extends RuntimeException {
  private EncodeException(String message) {
    super(message, null, false, false);
  }

  /** Creates the error for a null in a NOT NULL field. */
  public static EncodeException unexpectedNull(String field) {
    return new EncodeException("NULL_IN_NOT_NULL_COLUMN column '" + field + "' is null");
  }

  /** Creates any other error. */
  public static EncodeException unwritable(String reason) {
    return new EncodeException("RECORD_UNWRITABLE " + reason);
  }
}
