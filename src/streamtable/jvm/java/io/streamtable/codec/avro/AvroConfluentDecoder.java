package io.streamtable.codec.avro;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Decoder;
import io.streamtable.codec.registry.RegistryFault;
import io.streamtable.codec.registry.SchemaRegistry;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Decodes records that contain the id of their writer's schema: a zero byte, four bytes of the id
 * in a schema registry, an Avro record. The record is resolved against the columns' schema.
 */
public final class AvroConfluentDecoder implements Decoder {
  static final byte MAGIC = 0;
  static final int HEADER = 5;

  private final String schemaDdl;
  private final Map<String, String> parameters;
  private final Map<String, String> registry;
  private transient StructType type;
  private transient Schema schema;
  private transient Map<Integer, AvroReader> rows;

  /**
   * Parameters: schema, the columns' schema as JSON; the other parameters are the registry's
   * settings.
   */
  public AvroConfluentDecoder(String schemaDdl, Map<String, String> parameters)
      throws DecodeException {
    this.schemaDdl = schemaDdl;
    this.parameters = parameters;
    registry = new HashMap<>(parameters);
    registry.remove("schema");
    prepare();
    AvroResolver.row(type, schema, schema); // unreadable schemas fail on the driver
  }

  @Override
  public String format() {
    return "avro-confluent";
  }

  @Override
  public GenericInternalRow decode(byte[] bytes) throws DecodeException {
    if (bytes.length < HEADER) {
      throw new DecodeException(
          bytes.length + " bytes are too few for a magic byte and a schema id");
    }
    if (bytes[0] != MAGIC) {
      throw new DecodeException(
          String.format("the magic byte is 0x%02x, not 0x00: no schema id follows", bytes[0]));
    }
    int id = ByteBuffer.wrap(bytes).getInt(1);
    AvroInput in = new AvroInput(bytes, HEADER);
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
    String which = "schema id " + id + ": ";
    try {
      return AvroResolver.row(type, schema, SchemaRegistry.of(registry).schema(id));
    } catch (RegistryFault e) {
      String who = "the schema registry at " + e.where();
      boolean isDown = e.condition().equals(RegistryFault.UNREACHABLE);
      throw new DecodeException(
          which + (isDown ? "no answer from " + who + ": " : who + " says: ") + e.getMessage());
    } catch (DecodeException e) {
      throw new DecodeException(which + e.getMessage());
    }
  }

  private void prepare() {
    type = StructType.fromDDL(schemaDdl);
    schema = new Schema.Parser().parse(parameters.get("schema"));
    rows = new HashMap<>();
  }
}
