package io.streamtable.codec;

import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * What decoders of change events as JSON have in common: a JSON object around rows of the table. A
 * subclass says which fields of the object it wants, and what they mean; its constructor ends with
 * {@link #prepare}, so that a type that json cannot hold shows on the driver, not in a task.
 */
abstract class JsonEventDecoder implements ChangeDecoder {
  private final String format;
  private final String schemaDdl;
  private final Map<String, String> parameters;
  private transient JsonReaders readers;
  private transient JsonRowReader root;
  private transient JsonDocument document;

  /** Parameters: those of {@link JsonReaders#of}, metadata (keys, blanks between); more by format. */
  JsonEventDecoder(String format, String schemaDdl, Map<String, String> parameters) {
    this.format = format;
    this.schemaDdl = schemaDdl;
    this.parameters = parameters;
  }

  @Override
  public final String format() {
    return format;
  }

  @Override
  public final int fieldErrors() {
    return readers.takeErrors();
  }

  @Override
  public final List<GenericInternalRow> decode(byte[] bytes) throws DecodeException {
    if (bytes.length == 0) {
      return null;
    }
    if (readers == null) {
      prepare();
    }
    readers.takeErrors(); // what a record that ended in a fault has left
    return isOfTable(bytes, document) ? changes(document.read(bytes, root)) : List.of();
  }

  /** Builds what a task needs, once. */
  final void prepare() {
    readers = JsonReaders.of(parameters);
    document = new JsonDocument();
    root = layOut(Schemas.of(schemaDdl), readers, parameters).reader();
  }

  /** The fields to read of each event, whose rows have this type. */
  abstract JsonEnvelope layOut(StructType row, JsonReaders readers, Map<String, String> parameters);

  /** The changes that an event of those fields tells. */
  abstract List<GenericInternalRow> changes(GenericInternalRow event) throws DecodeException;

  /** Whether the event's rows are this table's; what is not need not fit its columns. */
  boolean isOfTable(byte[] bytes, JsonDocument document) throws DecodeException {
    return true;
  }
}
