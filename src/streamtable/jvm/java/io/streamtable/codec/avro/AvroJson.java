package io.streamtable.codec.avro;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/**
 * Converts Avro's JSON encoding with Avro's own decoder. The encoding is rare, so it has no readers
 * of its own.
 */
final class AvroJson {
  private AvroJson() {}

  /** Returns the same record in the binary encoding. */
  static byte[] toBinary(byte[] text, Schema schema) throws IOException {
    Object found =
        new GenericDatumReader<>(schema)
            .read(null, DecoderFactory.get().jsonDecoder(schema, new ByteArrayInputStream(text)));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder out = EncoderFactory.get().binaryEncoder(bytes, null);
    new GenericDatumWriter<>(schema).write(found, out);
    out.flush();
    return bytes.toByteArray();
  }
}
