package io.streamtable.codec.protobuf;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Decoder;
import io.streamtable.codec.Schemas;
import io.streamtable.codec.Texts;
import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/** Decodes one message per record, as Flink's protobuf format does. */
public final class ProtobufDecoder implements Decoder {
  private final String schemaDdl;
  private final Map<String, String> parameters;
  private transient ProtoMessageReader reader;
  private transient Descriptor checked;

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
    if (reader == null) {
      prepare();
    }
    try {
      if (checked != null) {
        DynamicMessage.parseFrom(checked, bytes); // refuses messages without a required field
      }
      return reader.row(CodedInputStream.newInstance(bytes), 1);
    } catch (InvalidProtocolBufferException e) {
      throw new DecodeException(Texts.shorten(e.getMessage()));
    } catch (IOException e) {
      throw new DecodeException(Texts.shorten(String.valueOf(e.getMessage())));
    }
  }

  private void prepare() {
    Descriptor message = ProtoSchemas.message(parameters);
    boolean all = Boolean.parseBoolean(parameters.get("readDefaults"));
    boolean isProto3 = message.getFile().toProto().getSyntax().equals("proto3");
    ProtoMessageReader.Defaults defaults = new ProtoMessageReader.Defaults(all || isProto3, all);
    reader = new ProtoMessageReader(message, Schemas.of(schemaDdl), defaults);
    checked = hasRequired(message, new HashSet<>()) ? message : null;
  }

  private static boolean hasRequired(Descriptor message, Set<Descriptor> seen) {
    if (!seen.add(message)) {
      return false;
    }
    for (FieldDescriptor field : message.getFields()) {
      boolean isMessage = field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
      if (field.isRequired() || (isMessage && hasRequired(field.getMessageType(), seen))) {
        return true;
      }
    }
    return false;
  }
}
