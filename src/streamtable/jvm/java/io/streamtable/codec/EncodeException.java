package io.streamtable.codec;

/** A row that its format cannot write; the message opens with a name that Python recognises. */
public final class EncodeException extends RuntimeException {
  private EncodeException(String message) {
    super(message, null, false, false);
  }

  /** A null where the schema promises none. */
  static EncodeException unexpectedNull(String field) {
    return new EncodeException("NULL_IN_NOT_NULL_COLUMN column '" + field + "' is null");
  }

  /** Anything else. */
  static EncodeException unwritable(String reason) {
    return new EncodeException("RECORD_UNWRITABLE " + reason);
  }
}
