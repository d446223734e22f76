package io.streamtable.codec.protobuf;

import io.streamtable.codec.Encoder;
import io.streamtable.codec.registry.SchemaHeader;
import io.streamtable.codec.registry.SchemaRegistry;
import io.streamtable.codec.registry.SchemaText;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Encodes messages after a zero byte, the id of their schema in the registry, and their path in the
 * schema. The constructor registers the schema, on the driver before a job starts; tasks have the
 * id and do not access the registry.
 */
public final class ProtobufConfluentEncoder implements Encoder {
  private final ProtobufEncoder messages;
  private final byte[] header;

  /**
   * Parameters: those of {@link ProtobufEncoder} with a text; subject; the settings of the registry
   * start with {@code registry.}.
   */
  public ProtobufConfluentEncoder(String schemaDdl, Map<String, String> parameters) {
    messages = new ProtobufEncoder(schemaDdl, parameters);
    SchemaRegistry registry = SchemaRegistry.of(SchemaRegistry.settingsOf(parameters));
    int id = registry.register(parameters.get("subject"), schema(parameters));
    byte[] path = MessageIndexes.write(ProtoSchemas.path(ProtoSchemas.message(parameters)));
    header =
        ByteBuffer.allocate(SchemaHeader.LENGTH + path.length)
            .put(SchemaHeader.of(id))
            .put(path)
            .array();
  }

  /**
   * Throws the errors of schema and registry that the constructor would throw, and registers
   * nothing.
   */
  public static void check(Map<String, String> parameters) {
    ProtoSchemas.message(parameters);
    SchemaRegistry registry = SchemaRegistry.of(SchemaRegistry.settingsOf(parameters));
    registry.check(parameters.get("subject"), schema(parameters));
  }

  private static SchemaText schema(Map<String, String> parameters) {
    return new SchemaText(SchemaText.PROTOBUF, parameters.get("text"));
  }

  @Override
  public byte[] encode(InternalRow row) {
    byte[] message = messages.encode(row);
    return ByteBuffer.allocate(header.length + message.length).put(header).put(message).array();
  }
}
