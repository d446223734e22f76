package io.streamtable.codec.protobuf;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Decoder;
import io.streamtable.codec.SchemaFault;
import io.streamtable.codec.Schemas;
import io.streamtable.codec.registry.RegistryFault;
import io.streamtable.codec.registry.SchemaHeader;
import io.streamtable.codec.registry.SchemaRegistry;
import io.streamtable.codec.registry.SchemaText;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Decodes messages after a zero byte, the id of their schema in a registry, and their path in the
 * schema. The schema of the record decides how its fields are read; columns are found by name.
 */
public final class ProtobufConfluentDecoder implements Decoder {
  /** A message type that records have. */
  private record Known(int id, List<Integer> path) {}

  private final String schemaDdl;
  private final boolean readDefaults;
  private final Map<String, String> registry;
  private transient Map<Known, ProtoMessages> known;

  /**
   * Parameters: readDefaults (true|false), whether absent fields have default values. Fields that
   * do not record whether they are present always do. The settings of the registry start with
   * {@code registry.}.
   */
  public ProtobufConfluentDecoder(String schemaDdl, Map<String, String> parameters) {
    this.schemaDdl = schemaDdl;
    readDefaults = Boolean.parseBoolean(parameters.get("readDefaults"));
    registry = SchemaRegistry.settingsOf(parameters);
  }

  @Override
  public String format() {
    return "protobuf-confluent";
  }

  @Override
  public GenericInternalRow decode(byte[] bytes) throws DecodeException {
    int id = SchemaHeader.id(bytes);
    MessageIndexes indexes = MessageIndexes.read(bytes, SchemaHeader.LENGTH);
    if (known == null) {
      known = new HashMap<>();
    }
    Known key = new Known(id, indexes.path());
    ProtoMessages messages = known.get(key);
    if (messages == null) {
      messages = messages(key);
      known.put(key, messages);
    }
    return messages.read(bytes, SchemaHeader.LENGTH + indexes.length());
  }

  private ProtoMessages messages(Known key) throws DecodeException {
    try {
      SchemaText text = SchemaRegistry.of(registry).text(key.id(), SchemaText.PROTOBUF);
      Descriptor message = ProtoSchemas.message(text.text(), text.references(), key.path());
      ProtoMessageReader.Defaults defaults =
          new ProtoMessageReader.Defaults(this::isDefault, readDefaults);
      return new ProtoMessages(message, Schemas.of(schemaDdl), defaults);
    } catch (RegistryFault e) {
      throw SchemaHeader.fault(key.id(), e);
    } catch (SchemaFault e) {
      throw new DecodeException("schema id " + key.id() + ": " + e.getMessage());
    }
  }

  private boolean isDefault(FieldDescriptor field) {
    return readDefaults || !field.hasPresence();
  }
}
