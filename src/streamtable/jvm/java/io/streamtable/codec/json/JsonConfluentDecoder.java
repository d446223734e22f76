package io.streamtable.codec.json;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Decoder;
import io.streamtable.codec.registry.RegistryFault;
import io.streamtable.codec.registry.SchemaHeader;
import io.streamtable.codec.registry.SchemaRegistry;
import io.streamtable.codec.registry.SchemaText;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Decodes JSON objects after a zero byte and the id of their schema in a registry. The schema must
 * be a JSON schema; objects are read by the columns and are not validated.
 */
public final class JsonConfluentDecoder implements Decoder {
  private final JsonDecoder objects;
  private final Map<String, String> registry;
  private transient Set<Integer> known;

  /**
   * Parameters: those of {@link JsonDecoder}; the settings of the registry start with
   * {@code registry.}.
   */
  public JsonConfluentDecoder(String schemaDdl, Map<String, String> parameters) {
    objects = new JsonDecoder(schemaDdl, parameters);
    registry = SchemaRegistry.settingsOf(parameters);
  }

  @Override
  public String format() {
    return "json-confluent";
  }

  @Override
  public int fieldErrors() {
    return objects.fieldErrors();
  }

  @Override
  public GenericInternalRow decode(byte[] bytes) throws DecodeException {
    int id = SchemaHeader.id(bytes);
    if (known == null) {
      known = new HashSet<>();
    }
    if (!known.contains(id)) {
      check(id);
      known.add(id);
    }
    GenericInternalRow row =
        objects.decode(Arrays.copyOfRange(bytes, SchemaHeader.LENGTH, bytes.length));
    if (row == null) {
      throw new DecodeException("no object follows the schema id");
    }
    return row;
  }

  private void check(int id) throws DecodeException {
    try {
      SchemaRegistry.of(registry).text(id, SchemaText.JSON);
    } catch (RegistryFault e) {
      throw SchemaHeader.fault(id, e);
    }
  }
}
