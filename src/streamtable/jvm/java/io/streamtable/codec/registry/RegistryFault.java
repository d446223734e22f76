package io.streamtable.codec.registry;

/**
 * An error of a schema registry, or a missing answer, in one line without secrets. Python
 * recognises the condition by its name.
 */
public final class RegistryFault extends RuntimeException {
  /** None of the addresses gave a usable answer within the timeout. */
  public static final String UNREACHABLE = "SCHEMA_REGISTRY_UNREACHABLE";
  /** The registry answered with an error. */
  static final String FAILED = "SCHEMA_REGISTRY_FAILED";
  /** The subject's compatibility does not allow the schema. */
  static final String INCOMPATIBLE = "SCHEMA_INCOMPATIBLE";

  private final String condition;
  private final String where;
  private final boolean definite;

  RegistryFault(String condition, String where, String reason) {
    this(condition, where, reason, false);
  }

  private RegistryFault(String condition, String where, String reason, boolean definite) {
    super(reason, null, false, false); // causes quote addresses, which may contain passwords
    this.condition = condition;
    this.where = where;
    this.definite = definite;
  }

  /** Returns the fault that a registry does not have a schema, or has one that cannot be used. */
  static RegistryFault definite(String where, String reason) {
    return new RegistryFault(FAILED, where, reason, true);
  }

  /** Returns whether a repeated request would get the same answer. */
  public boolean isDefinite() {
    return definite;
  }

  /** Returns the condition's name in Python. */
  public String condition() {
    return condition;
  }

  /** Returns the registry's address, or the subject of an incompatible schema. */
  public String where() {
    return where;
  }
}
