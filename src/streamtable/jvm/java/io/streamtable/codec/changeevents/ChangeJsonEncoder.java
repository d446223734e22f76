package io.streamtable.codec.changeevents;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import io.streamtable.codec.Encoder;
import io.streamtable.codec.Schemas;
import io.streamtable.codec.json.JsonWriters;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Encodes a changelog row as one event of Debezium, Canal, Maxwell or GoldenGate, byte for byte as
 * Flink does. +I and +U become an insert, -U and -D a delete, so an update is two events.
 */
public final class ChangeJsonEncoder implements Encoder {
  /** Writes the envelope around a row. */
  private interface Style {
    void write(boolean adds, Row row, JsonGenerator out) throws IOException;
  }

  /** Writes the row inside the envelope. */
  private interface Row {
    void write() throws IOException;
  }

  private final String schemaDdl;
  private final Map<String, String> parameters;
  private transient JsonWriters.RowWriter columns;
  private transient int width;
  private transient Style style;
  private transient JsonFactory factory;
  private transient ByteArrayBuilder buffer;

  /** Parameters: those of {@link JsonWriters#of}, style (debezium|canal|maxwell|ogg). */
  public ChangeJsonEncoder(String schemaDdl, Map<String, String> parameters) {
    this.schemaDdl = schemaDdl;
    this.parameters = parameters;
    prepare(); // a type that JSON does not support fails on the driver, not in a task
  }

  /** Encodes a struct of (row kind, struct of the columns). */
  @Override
  public byte[] encode(InternalRow change) {
    if (columns == null) {
      prepare();
    }
    buffer.reset();
    byte kind = change.getByte(0);
    boolean adds = kind == ChangeRows.INSERT || kind == ChangeRows.UPDATE_AFTER;
    InternalRow row = change.getStruct(1, width);
    try (JsonGenerator out = factory.createGenerator(buffer)) {
      out.writeStartObject();
      style.write(adds, () -> columns.write(row, out), out);
      out.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return buffer.toByteArray();
  }

  private void prepare() {
    StructType type = Schemas.of(schemaDdl);
    columns = JsonWriters.of(parameters).row(type);
    width = type.size();
    boolean ignoreNulls = Boolean.parseBoolean(parameters.get("ignoreNullFields"));
    style =
        switch (parameters.get("style")) {
          case "debezium" -> (adds, row, out) -> debezium(adds, row, out, ignoreNulls);
          case "canal" -> ChangeJsonEncoder::canal;
          case "ogg" -> (adds, row, out) -> ogg(adds, row, out, ignoreNulls);
          default -> ChangeJsonEncoder::maxwell;
        };
    factory = new JsonFactory();
    buffer = new ByteArrayBuilder();
  }

  private static void debezium(boolean adds, Row row, JsonGenerator out, boolean ignoreNulls)
      throws IOException {
    images(adds, row, out, ignoreNulls);
    out.writeStringField("op", adds ? "c" : "d");
  }

  private static void ogg(boolean adds, Row row, JsonGenerator out, boolean ignoreNulls)
      throws IOException {
    images(adds, row, out, ignoreNulls);
    out.writeStringField("op_type", adds ? "I" : "D");
  }

  /** Writes the row before and the row after the change, one of which is null. */
  private static void images(boolean adds, Row row, JsonGenerator out, boolean ignoreNulls)
      throws IOException {
    for (boolean after : new boolean[] {false, true}) {
      if (after == adds) {
        out.writeFieldName(after ? "after" : "before");
        row.write();
      } else if (!ignoreNulls) {
        out.writeNullField(after ? "after" : "before");
      }
    }
  }

  private static void canal(boolean adds, Row row, JsonGenerator out) throws IOException {
    out.writeArrayFieldStart("data");
    row.write();
    out.writeEndArray();
    out.writeStringField("type", adds ? "INSERT" : "DELETE");
  }

  private static void maxwell(boolean adds, Row row, JsonGenerator out) throws IOException {
    out.writeFieldName("data");
    row.write();
    out.writeStringField("type", adds ? "insert" : "delete");
  }
}
