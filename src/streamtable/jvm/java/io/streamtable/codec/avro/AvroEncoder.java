package io.streamtable.codec.avro;

import io.streamtable.codec.Encoder;
import io.streamtable.codec.Schemas;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.spark.sql.catalyst.InternalRow;

/** Encodes one Avro record per row, byte for byte as Flink's avro format writes it. */
public final class AvroEncoder implements Encoder {
  private final String schemaDdl;
  private final Map<String, String> parameters;
  private final byte[] header;
  private transient Schema schema;
  private transient AvroWriters.RowWriter row;
  private transient ByteArrayOutputStream bytes;
  private transient BinaryEncoder out;

  /** Parameters: schema, the Avro schema as JSON; json, whether to write JSON (true|false). */
  public AvroEncoder(String schemaDdl, Map<String, String> parameters) {
    this(schemaDdl, parameters, new byte[0]);
  }

  /** Creates an encoder that writes these header bytes before every record. */
  AvroEncoder(String schemaDdl, Map<String, String> parameters, byte[] header) {
    this.schemaDdl = schemaDdl;
    this.parameters = parameters;
    this.header = header;
    prepare(); // incompatible schemas fail on the driver, not in a task
  }

  @Override
  public byte[] encode(InternalRow value) {
    if (row == null) {
      prepare();
    }
    try {
      return Boolean.parseBoolean(parameters.get("json")) ? text(value) : binary(value);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private byte[] binary(InternalRow value) throws IOException {
    out = EncoderFactory.get().binaryEncoder(bytes, out);
    bytes.reset(); // after the line above, which clears the remains of a failed row in the encoder
    bytes.write(header, 0, header.length);
    row.write(value, out);
    out.flush();
    return bytes.toByteArray();
  }

  private byte[] text(InternalRow value) throws IOException {
    bytes.reset();
    AvroJsonEncoder json = new AvroJsonEncoder(schema, bytes);
    row.write(value, json);
    json.flush();
    return bytes.toByteArray();
  }

  private void prepare() {
    schema = AvroSchemas.of(parameters);
    row = AvroWriters.row(Schemas.of(schemaDdl), schema);
    bytes = new ByteArrayOutputStream();
  }
}
