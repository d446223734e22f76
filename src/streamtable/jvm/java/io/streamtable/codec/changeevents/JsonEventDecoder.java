package io.streamtable.codec.changeevents;

import io.streamtable.codec.ChangeDecoder;
import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Schemas;
import io.streamtable.codec.json.JsonDocument;
import io.streamtable.codec.json.JsonReaders;
import io.streamtable.codec.json.JsonRowReader;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Base class of decoders of change events in JSON: a JSON object around rows of the table. A
 * subclass defines which fields of the object it needs and what they mean. Its constructor ends
 * with {@link #prepare}, so that a type that JSON does not support fails on the driver, not in a
 * task.
 */
abstract class JsonEventDecoder implements ChangeDecoder {
  private final String format;
  private final String schemaDdl;
  private final Map<String, String> parameters;
  private transient JsonReaders readers;
  private transient JsonRowReader root;
  private transient JsonDocument document;

  /**
   * Parameters: those of {@link JsonReaders#of}, metadata (keys, separated by blanks); formats may
   * add more.
   */
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
    readers.takeErrors(); // clears the remains of a failed record
    return isOfTable(bytes, document) ? changes(document.read(bytes, root)) : List.of();
  }

  /** Builds the task state, once. */
  final void prepare() {
    readers = JsonReaders.of(parameters);
    document = new JsonDocument();
    root = layOut(Schemas.of(schemaDdl), readers, parameters).reader();
  }

  /** Declares the fields to read from each event, whose rows have this type. */
  abstract JsonEnvelope layOut(StructType row, JsonReaders readers, Map<String, String> parameters);

  /** Returns the changes of an event with these fields. */
  abstract List<GenericInternalRow> changes(GenericInternalRow event) throws DecodeException;

  /**
   * Returns whether the event's rows belong to this table. Rows of other tables need not match its
   * columns.
   */
  boolean isOfTable(byte[] bytes, JsonDocument document) throws DecodeException {
    return true;
  }
}
