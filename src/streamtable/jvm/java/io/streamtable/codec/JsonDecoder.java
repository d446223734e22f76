package io.streamtable.codec;

import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;

/** One JSON object per record, read as Flink's json format reads it. */
public final class JsonDecoder implements Decoder {
  private final String schemaDdl;
  private final Map<String, String> parameters;
  private transient JsonReaders readers;
  private transient JsonRowReader row;
  private transient JsonDocument document;
  private transient JsonScanner scanner;

  /**
   * Parameters: failOnMissingField, ignoreParseErrors, isoTimestamps (true|false); payload (true:
   * the object stands in a field of that name beside its schema, as Kafka Connect writes it).
   */
  public JsonDecoder(String schemaDdl, Map<String, String> parameters) {
    this.schemaDdl = schemaDdl;
    this.parameters = parameters;
    prepare(); // a type that json cannot hold shows on the driver, not in a task
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
    readers.takeErrors(); // what a record that ended in a fault has left
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
