package io.streamtable.codec.registry;

import java.util.Map;

/**
 * A schema as a registry stores it.
 *
 * @param type {@link #AVRO}, {@link #JSON} or {@link #PROTOBUF}
 * @param references the texts of the schemas that it refers to, by the names that it uses
 */
public record SchemaText(String type, String text, Map<String, String> references) {
  public static final String AVRO = "AVRO";
  public static final String JSON = "JSON";
  public static final String PROTOBUF = "PROTOBUF";

  /** Creates a schema without references. */
  public SchemaText(String type, String text) {
    this(type, text, Map.of());
  }
}
