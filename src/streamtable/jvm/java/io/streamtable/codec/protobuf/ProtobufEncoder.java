package io.streamtable.codec.protobuf;

import io.streamtable.codec.Encoder;
import io.streamtable.codec.Schemas;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;

/** Encodes one message per row, as Flink's protobuf format does. */
public final class ProtobufEncoder implements Encoder {
  private final String schemaDdl;
  private final Map<String, String> parameters;
  private transient ProtoMessageWriter writer;

  /**
   * Parameters: those of {@link ProtoSchemas#message}; nullLiteral, the text that replaces null in
   * arrays and maps.
   */
  public ProtobufEncoder(String schemaDdl, Map<String, String> parameters) {
    this.schemaDdl = schemaDdl;
    this.parameters = parameters;
    prepare(); // a schema that does not fit fails on the driver, not in a task
  }

  @Override
  public byte[] encode(InternalRow row) {
    if (writer == null) {
      prepare();
    }
    return writer.message(row).toByteArray();
  }

  private void prepare() {
    String literal = parameters.get("nullLiteral");
    writer = new ProtoMessageWriter(ProtoSchemas.message(parameters), Schemas.of(schemaDdl), literal);
  }
}
