package io.streamtable.codec;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * An object to a row: names are case-sensitive, unknown ones are skipped, of equal ones the last
 * counts.
 */
final class JsonRowReader implements JsonReader {
  /** Stands for a field that was not there, where {@link Missing#IS_MARKED} asks for it. */
  static final Object MISSING = new Object();

  /** What becomes of a field that the object lacks. */
  enum Missing {
    IS_NULL,
    IS_A_FAULT,
    IS_MARKED
  }

  private final String[] names;
  private final JsonReader[] readers;
  private final Map<String, Integer> positions = new HashMap<>();
  private final Missing missing;

  JsonRowReader(String[] names, JsonReader[] readers, Missing missing) {
    this.names = names;
    this.readers = readers;
    this.missing = missing;
    for (int i = 0; i < names.length; i++) {
      positions.put(names[i], i);
    }
  }

  @Override
  public GenericInternalRow read(JsonParser parser) throws IOException, DecodeException {
    JsonReaders.expect(parser, JsonToken.START_OBJECT, "an object");
    Object[] values = new Object[readers.length];
    if (missing != Missing.IS_NULL) {
      Arrays.fill(values, MISSING);
    }
    int next = 0;
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      int position = position(parser.currentName(), next);
      parser.nextToken();
      if (position < 0) {
        parser.skipChildren();
        continue;
      }
      next = position + 1;
      try {
        values[position] = readers[position].read(parser);
      } catch (DecodeException e) {
        throw e.in(names[position]);
      }
    }
    if (missing == Missing.IS_A_FAULT) {
      checkNoneMissing(values);
    }
    return new GenericInternalRow(values);
  }

  /** Writers keep to an order, so the field behind the last one is looked at first. */
  private int position(String name, int next) {
    if (next < names.length && names[next].equals(name)) {
      return next;
    }
    Integer position = positions.get(name);
    return position == null ? -1 : position;
  }

  private void checkNoneMissing(Object[] values) throws DecodeException {
    for (int i = 0; i < values.length; i++) {
      if (values[i] == MISSING) {
        throw new DecodeException("missing, and fail-on-missing-field is on").in(names[i]);
      }
    }
  }
}
