package io.streamtable.codec.json;

import io.streamtable.codec.Encoder;
import io.streamtable.codec.registry.SchemaHeader;
import io.streamtable.codec.registry.SchemaRegistry;
import io.streamtable.codec.registry.SchemaText;
import java.util.Arrays;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Encodes JSON objects after a zero byte and the id of their schema in the registry. The
 * constructor registers the schema, on the driver before a job starts; tasks have the id and do not
 * access the registry.
 */
public final class JsonConfluentEncoder implements Encoder {
  private final JsonEncoder objects;
  private final byte[] header;

  /**
   * Parameters: those of {@link JsonEncoder}; schema, a JSON schema; subject; the settings of the
   * registry start with {@code registry.}.
   */
  public JsonConfluentEncoder(String schemaDdl, Map<String, String> parameters) {
    objects = new JsonEncoder(schemaDdl, parameters);
    SchemaRegistry registry = SchemaRegistry.of(SchemaRegistry.settingsOf(parameters));
    header = SchemaHeader.of(registry.register(parameters.get("subject"), schema(parameters)));
  }

  /** Throws the registry errors that the constructor would throw, and registers nothing. */
  public static void check(Map<String, String> parameters) {
    SchemaRegistry registry = SchemaRegistry.of(SchemaRegistry.settingsOf(parameters));
    registry.check(parameters.get("subject"), schema(parameters));
  }

  private static SchemaText schema(Map<String, String> parameters) {
    return new SchemaText(SchemaText.JSON, parameters.get("schema"));
  }

  @Override
  public byte[] encode(InternalRow row) {
    byte[] object = objects.encode(row);
    byte[] record = Arrays.copyOf(header, header.length + object.length);
    System.arraycopy(object, 0, record, header.length, object.length);
    return record;
  }
}
