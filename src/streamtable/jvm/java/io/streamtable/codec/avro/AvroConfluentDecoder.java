package io.streamtable.codec.avro;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Decoder;
import io.streamtable.codec.Schemas;
import io.streamtable.codec.registry.RegistryFault;
import io.streamtable.codec.registry.SchemaHeader;
import io.streamtable.codec.registry.SchemaRegistry;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Decodes records that contain the id of their writer's schema: a zero byte, four bytes of the id
 * in a schema registry, an Avro record. The record is resolved against the columns' schema.
 */
public final class AvroConfluentDecoder implements Decoder {
  private final String schemaDdl;
  private final Map<String, String> parameters;
  private final Map<String, String> registry;
  private transient StructType type;
  private transient Schema schema;
  private transient Map<Integer, AvroReader> rows;

  /**
   * Parameters: schema, the columns' schema as JSON; registered, whether it comes from the registry
   * (true|false); the other parameters are the registry's settings.
   */
  public AvroConfluentDecoder(String schemaDdl, Map<String, String> parameters)
      throws DecodeException {
    this.schemaDdl = schemaDdl;
    this.parameters = parameters;
    registry = new HashMap<>(parameters);
    registry.keySet().removeAll(AvroSchemas.PARAMETERS);
    prepare();
    AvroResolver.row(type, schema, schema); // unreadable schemas fail on the driver
  }

  @Override
  public String format() {
    return "avro-confluent";
  }

  @Override
  public GenericInternalRow decode(byte[] bytes) throws DecodeException {
    int id = SchemaHeader.id(bytes);
    AvroInput in = new AvroInput(bytes, SchemaHeader.LENGTH);
    GenericInternalRow value = (GenericInternalRow) reader(id).read(in);
    in.expectEnd();
    return value;
  }

  private AvroReader reader(int id) throws DecodeException {
    if (rows == null) {
      prepare();
    }
    AvroReader row = rows.get(id);
    if (row == null) {
      row = resolve(id);
      rows.put(id, row);
    }
    return row;
  }

  private AvroReader resolve(int id) throws DecodeException {
    try {
      return AvroResolver.row(type, schema, SchemaRegistry.of(registry).schema(id));
    } catch (RegistryFault e) {
      throw SchemaHeader.fault(id, e);
    } catch (DecodeException | AvroRuntimeException e) {
      throw new DecodeException("schema id " + id + ": " + e.getMessage());
    }
  }

  private void prepare() {
    type = Schemas.of(schemaDdl);
    schema = AvroSchemas.of(parameters);
    rows = new HashMap<>();
  }
}
