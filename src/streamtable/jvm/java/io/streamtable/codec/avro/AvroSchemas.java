package io.streamtable.codec.avro;

import io.streamtable.codec.SchemaFault;
import java.util.Map;
import java.util.Set;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;

/** Parses the schemas of codecs. */
final class AvroSchemas {
  private static final String SCHEMA = "schema";
  private static final String REGISTERED = "registered";

  /** The parameters that describe the schema. */
  static final Set<String> PARAMETERS = Set.of(SCHEMA, REGISTERED);

  private AvroSchemas() {}

  /**
   * Returns the schema of the parameters: schema, as JSON; registered, whether it comes from a
   * registry (true|false). A default that does not fit its field is an error, except in a registered
   * schema, because Confluent's client accepts it. Throws a SchemaFault with the reason.
   */
  static Schema of(Map<String, String> parameters) {
    boolean isRegistered = Boolean.parseBoolean(parameters.get(REGISTERED));
    try {
      return new Schema.Parser().setValidateDefaults(!isRegistered).parse(parameters.get(SCHEMA));
    } catch (AvroRuntimeException e) {
      throw new SchemaFault(e.getMessage());
    }
  }
}
