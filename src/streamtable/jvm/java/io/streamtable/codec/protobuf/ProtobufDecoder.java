package io.streamtable.codec.protobuf;

import com.google.protobuf.Descriptors.Descriptor;
import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Decoder;
import io.streamtable.codec.Schemas;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/** Decodes one message per record, as Flink's protobuf format does. */
public final class ProtobufDecoder implements Decoder {
  private final String schemaDdl;
  private final Map<String, String> parameters;
  private transient ProtoMessages messages;

  /**
   * Parameters: those of {@link ProtoSchemas#message}; readDefaults (true|false), whether absent
   * fields have default values. Scalars of proto3 always do.
   */
  public ProtobufDecoder(String schemaDdl, Map<String, String> parameters) {
    this.schemaDdl = schemaDdl;
    this.parameters = parameters;
    prepare(); // a schema that does not fit fails on the driver, not in a task
  }

  @Override
  public String format() {
    return "protobuf";
  }

  @Override
  public GenericInternalRow decode(byte[] bytes) throws DecodeException {
    if (messages == null) {
      prepare();
    }
    return messages.read(bytes, 0);
  }

  private void prepare() {
    Descriptor message = ProtoSchemas.message(parameters);
    boolean all = Boolean.parseBoolean(parameters.get("readDefaults"));
    boolean ofScalars = all || message.getFile().toProto().getSyntax().equals("proto3");
    ProtoMessageReader.Defaults defaults =
        new ProtoMessageReader.Defaults(field -> ofScalars, all);
    messages = new ProtoMessages(message, Schemas.of(schemaDdl), defaults);
  }
}
