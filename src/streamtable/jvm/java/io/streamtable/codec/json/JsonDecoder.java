package io.streamtable.codec.json;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Decoder;
import io.streamtable.codec.Schemas;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;

/** Decodes one JSON object per record, as Flink's json format does. */
public final class JsonDecoder implements Decoder {
  private final String schemaDdl;
  private final Map<String, String> parameters;
  private transient JsonReaders readers;
  private transient JsonRowReader row;
  private transient JsonDocument document;
  private transient JsonScanner scanner;

  /**
   * Parameters: failOnMissingField, ignoreParseErrors, isoTimestamps (true|false); payload (true:
   * the object is in the field of that name, next to its schema, as Kafka Connect writes it).
   */
  public JsonDecoder(String schemaDdl, Map<String, String> parameters) {
    this.schemaDdl = schemaDdl;
    this.parameters = parameters;
    prepare(); // a type that JSON does not support fails on the driver, not in a task
  }

  @Override
  public String format() {
    return "json";
  }

  @Override
  public int fieldErrors() {
    return readers.takeErrors();
  }

  @Override
  public GenericInternalRow decode(byte[] bytes) throws DecodeException {
    if (bytes.length == 0) {
      return null;
    }
    if (row == null) {
      prepare();
    }
    readers.takeErrors(); // clears the remains of a failed record
    GenericInternalRow usual = scanner == null ? null : scanner.read(bytes);
    if (usual != null) {
      return usual;
    }
    GenericInternalRow found = document.read(bytes, row);
    if (!hasPayload()) {
      return found;
    }
    if (found.values()[0] == null) {
      throw new DecodeException("there is no 'payload'; 'schema-include' expects one");
    }
    return (GenericInternalRow) found.values()[0];
  }

  private boolean hasPayload() {
    return Boolean.parseBoolean(parameters.get("payload"));
  }

  private void prepare() {
    readers = JsonReaders.of(parameters);
    StructType type = Schemas.of(schemaDdl);
    row = readers.row(hasPayload() ? new StructType().add("payload", type) : type);
    document = new JsonDocument();
    scanner = hasPayload() ? null : readers.scanner(type);
  }
}
