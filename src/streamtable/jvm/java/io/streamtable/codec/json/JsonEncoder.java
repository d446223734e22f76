package io.streamtable.codec.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import io.streamtable.codec.Encoder;
import io.streamtable.codec.Schemas;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;

/** Encodes one JSON object per row, byte for byte as Flink's json format does. */
public final class JsonEncoder implements Encoder {
  private final String schemaDdl;
  private final Map<String, String> parameters;
  private transient JsonWriters.RowWriter row;
  private transient JsonGenerator out;
  private transient ByteArrayBuilder buffer;
  private transient byte[] opening;
  private transient byte[] closing;

  /**
   * Parameters: those of {@link JsonWriters#of}; opening and closing, texts to write instead of the
   * object's opening brace and after the object.
   */
  public JsonEncoder(String schemaDdl, Map<String, String> parameters) {
    this.schemaDdl = schemaDdl;
    this.parameters = parameters;
    prepare(); // a type that JSON does not support fails on the driver, not in a task
  }

  @Override
  public byte[] encode(InternalRow value) {
    if (row == null) {
      prepare();
    }
    buffer.reset();
    JsonWriters.RowWriter writer = row;
    row = null; // an error leaves the generator inside an object
    try {
      writer.write(value, out);
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    row = writer;
    byte[] object = buffer.toByteArray();
    return opening == null ? object : framed(object);
  }

  private void prepare() {
    row = JsonWriters.of(parameters).row(Schemas.of(schemaDdl));
    JsonFactory factory = new JsonFactory();
    factory.setRootValueSeparator(null); // each object is a record
    buffer = new ByteArrayBuilder();
    try {
      out = factory.createGenerator(buffer);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (parameters.containsKey("opening")) {
      opening = parameters.get("opening").getBytes(StandardCharsets.UTF_8);
      closing = parameters.get("closing").getBytes(StandardCharsets.UTF_8);
    }
  }

  /** Returns the object with the opening text instead of its brace. */
  private byte[] framed(byte[] object) {
    int length = object.length - 1;
    boolean isEmpty = length == 1; // all fields are null and left out
    int start = opening.length - (isEmpty && opening[opening.length - 1] == ',' ? 1 : 0);
    byte[] framed = Arrays.copyOf(opening, start + length + closing.length);
    System.arraycopy(object, 1, framed, start, length);
    System.arraycopy(closing, 0, framed, start + length, closing.length);
    return framed;
  }
}
