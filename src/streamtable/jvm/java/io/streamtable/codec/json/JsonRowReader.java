package io.streamtable.codec.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.streamtable.codec.DecodeException;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Reads an object into a row. Names are case-sensitive, unknown names are skipped, and the last of
 * equal names is used.
 */
public final class JsonRowReader implements JsonReader {
  /** Marks a missing field, if {@link Missing#IS_MARKED} is set. */
  public static final Object MISSING = new Object();

  /** The handling of a field that the object lacks. */
  public enum Missing {
    IS_NULL,
    IS_A_FAULT,
    IS_MARKED
  }

  private final String[] names;
  private final JsonReader[] readers;
  private final Map<String, Integer> positions = new HashMap<>();
  private final Missing missing;

  public JsonRowReader(String[] names, JsonReader[] readers, Missing missing) {
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

  /**
   * Returns the position of a field. Writers keep an order, so the field after the last one is
   * checked first.
   */
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
