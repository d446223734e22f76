package io.streamtable.codec;

/**
 * What a schema registry did not answer or refused, in one line without secrets. Python knows the
 * condition by its name.
 */
public final class RegistryFault extends RuntimeException {
  /** No usable answer within the time, from any of the addresses. */
  static final String UNREACHABLE = "SCHEMA_REGISTRY_UNREACHABLE";
  /** An answer that says no. */
  static final String FAILED = "SCHEMA_REGISTRY_FAILED";
  /** The subject's compatibility does not allow the schema. */
  static final String INCOMPATIBLE = "SCHEMA_INCOMPATIBLE";

  private final String condition;
  private final String where;

  RegistryFault(String condition, String where, String reason) {
    super(reason, null, false, false); // causes quote addresses, which may hold passwords
    this.condition = condition;
    this.where = where;
  }

  /** The condition's name in Python. */
  public String condition() {
    return condition;
  }

  /** The registry's address, or the subject of an incompatible schema. */
  public String where() {
    return where;
  }
}
