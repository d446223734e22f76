package io.streamtable.codec.registry;

/**
 * A schema as a registry stores it.
 *
 * @param type {@link #AVRO}, {@link #JSON} or another type of the registry
 */
public record SchemaText(String type, String text) {
  public static final String AVRO = "AVRO";
  public static final String JSON = "JSON";
}
