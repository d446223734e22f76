package io.streamtable.codec.changeevents;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.json.JsonReader;
import io.streamtable.codec.json.JsonReaders;
import io.streamtable.codec.json.JsonRowReader;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;

/**
 * The fields of a change event that a decoder needs. Each field is read once, however often it is
 * requested.
 */
final class JsonEnvelope {
  private final JsonReaders readers;
  private final List<String> names = new ArrayList<>();
  private final List<JsonReader> fields = new ArrayList<>();

  JsonEnvelope(JsonReaders readers) {
    this.readers = readers;
  }

  /** Returns the position of a field in the rows of {@link #reader}. */
  int field(String name, JsonReader reader) {
    int known = names.indexOf(name);
    if (known >= 0) {
      return known;
    }
    names.add(name);
    fields.add(reader);
    return names.size() - 1;
  }

  int field(String name, DataType type) {
    return field(name, readers.of(type));
  }

  JsonRowReader reader() {
    return new JsonRowReader(
        names.toArray(String[]::new),
        fields.toArray(JsonReader[]::new),
        JsonRowReader.Missing.IS_NULL);
  }

  /** Returns the reader of this envelope as a field of another envelope. */
  JsonReader nested() {
    return readers.orNull(reader());
  }

  /** Returns a field as text. A missing field is an error. */
  static String text(GenericInternalRow event, int position, String name) throws DecodeException {
    Object found = event.values()[position];
    if (found == null) {
      throw new DecodeException("'" + name + "' is missing");
    }
    return found.toString();
  }
}
