package io.streamtable.codec;

/** A schema that a codec cannot use, or that does not fit the columns. Python recognises it. */
public final class SchemaFault extends RuntimeException {
  public SchemaFault(String reason) {
    super(reason, null, false, false);
  }
}
