package io.streamtable.codec.avro;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Decoder;
import io.streamtable.codec.Schemas;
import io.streamtable.codec.Texts;
import java.io.IOException;
import java.util.Map;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Decodes one Avro record without a header, written with the columns' schema. Bytes after the
 * record are an error, because they indicate another schema. Flink ignores them.
 */
public final class AvroDecoder implements Decoder {
  private final String schemaDdl;
  private final Map<String, String> parameters;
  private transient Schema schema;
  private transient AvroReader row;

  /** Parameters: schema, the Avro schema as JSON; json, whether records are JSON (true|false). */
  public AvroDecoder(String schemaDdl, Map<String, String> parameters) throws DecodeException {
    this.schemaDdl = schemaDdl;
    this.parameters = parameters;
    prepare(); // incompatible schemas fail on the driver, not in a task
  }

  @Override
  public String format() {
    return "avro";
  }

  @Override
  public GenericInternalRow decode(byte[] bytes) throws DecodeException {
    if (row == null) {
      prepare();
    }
    boolean isText = Boolean.parseBoolean(parameters.get("json"));
    AvroInput in = new AvroInput(isText ? binary(bytes) : bytes);
    GenericInternalRow value = (GenericInternalRow) row.read(in);
    in.expectEnd();
    return value;
  }

  private byte[] binary(byte[] text) throws DecodeException {
    try {
      return AvroJson.toBinary(text, schema);
    } catch (IOException | AvroRuntimeException | ClassCastException e) {
      throw new DecodeException(Texts.shorten(String.valueOf(e.getMessage())));
    }
  }

  private void prepare() throws DecodeException {
    schema = AvroSchemas.of(parameters);
    row = AvroResolver.row(Schemas.of(schemaDdl), schema, schema);
  }
}
