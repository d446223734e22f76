package io.streamtable.codec.json;

import com.fasterxml.jackson.core.Base64Variants;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Texts;
import io.streamtable.codec.TimeText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Creates readers per type, with the conversions of Flink's json format. Numbers may be JSON
 * strings, and any value may be read as a string. A DECIMAL that does not fit is null; an integer
 * that does not fit is an error.
 */
public final class JsonReaders {
  private final boolean failOnMissing;
  private final boolean ignoreErrors;
  private final TimeText times;

  /**
   * Number of fields that {@code ignoreErrors} has set to null since the last call of takeErrors.
   */
  private int errors;

  JsonReaders(boolean failOnMissing, boolean ignoreErrors, TimeText times) {
    this.failOnMissing = failOnMissing;
    this.ignoreErrors = ignoreErrors;
    this.times = times;
  }

  public int takeErrors() {
    int taken = errors;
    errors = 0;
    return taken;
  }

  /**
   * Creates readers from a codec's parameters: failOnMissingField, ignoreParseErrors,
   * isoTimestamps.
   */
  public static JsonReaders of(Map<String, String> parameters) {
    return new JsonReaders(
        Boolean.parseBoolean(parameters.get("failOnMissingField")),
        Boolean.parseBoolean(parameters.get("ignoreParseErrors")),
        new TimeText(Boolean.parseBoolean(parameters.get("isoTimestamps"))));
  }

  /**
   * Returns a reader of a row. Unlike an error in a nested value, an error of the row is never
   * null.
   */
  JsonRowReader row(StructType type) {
    return new JsonRowReader(
        type.fieldNames(),
        fields(type),
        failOnMissing ? JsonRowReader.Missing.IS_A_FAULT : JsonRowReader.Missing.IS_NULL);
  }

  /**
   * Returns a scanner that reads usual rows without a parser; null if the columns do not allow it.
   */
  JsonScanner scanner(StructType type) {
    return JsonScanner.of(type, failOnMissing, times);
  }

  /** Returns a reader of a row that distinguishes a missing field from a null field. */
  public JsonReader partialRow(StructType type) {
    JsonReader[] fields = fields(type);
    return orNull(new JsonRowReader(type.fieldNames(), fields, JsonRowReader.Missing.IS_MARKED));
  }

  /** Returns a reader of an array whose elements `element` reads. */
  public JsonReader arrayOf(JsonReader element) {
    return orNull(array(element));
  }

  private JsonReader[] fields(StructType type) {
    JsonReader[] fields = new JsonReader[type.size()];
    for (int i = 0; i < fields.length; i++) {
      fields[i] = of(type.apply(i).dataType());
    }
    return fields;
  }

  public JsonReader of(DataType type) {
    JsonReader reader = container(type);
    return orNull(reader == null ? scalar(type) : reader);
  }

  private JsonReader container(DataType type) {
    if (type instanceof StructType row) {
      return row(row);
    }
    if (type instanceof ArrayType array) {
      return array(of(array.elementType()));
    }
    if (type instanceof MapType map) {
      if (!(map.keyType() instanceof StringType)) {
        throw new IllegalArgumentException("json supports only string keys, not " + map.keyType().sql());
      }
      return map(of(map.valueType()));
    }
    return null;
  }

  /** Returns a reader of one token. Its error names the token if the type is wrong. */
  private JsonReader scalar(DataType type) {
    JsonReader reader = token(type);
    boolean takesAll = type instanceof StringType || type instanceof NullType;
    return parser -> {
      if (parser.currentToken().isStructStart() && !takesAll) {
        throw wrong(parser, type);
      }
      try {
        return reader.read(parser);
      } catch (RuntimeException | InputCoercionException e) {
        throw wrong(parser, type);
      }
    };
  }

  private JsonReader token(DataType type) {
    JsonReader reader = JsonNumbers.reader(type);
    if (reader != null) {
      return reader;
    }
    if (type instanceof StringType) {
      return JsonReaders::text;
    }
    if (type instanceof BooleanType) {
      return parser ->
          switch (parser.currentToken()) {
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            default -> Boolean.parseBoolean(parser.getText().trim());
          };
    }
    if (type instanceof BinaryType) {
      return JsonReaders::bytes;
    }
    if (type instanceof DateType) {
      return parser -> TimeText.parseDate(parser.getText());
    }
    if (type instanceof TimeType time) {
      return parser -> TimeText.parseTime(parser.getText(), time.precision());
    }
    if (type instanceof TimestampNTZType) {
      return parser -> times.parseTimestamp(parser.getText());
    }
    if (type instanceof TimestampType) {
      return parser -> times.parseInstant(parser.getText());
    }
    if (type instanceof NullType) {
      return parser -> {
        parser.skipChildren();
        return null;
      };
    }
    throw new IllegalArgumentException("json cannot hold " + Texts.name(type));
  }

  private static Object text(JsonParser parser) throws IOException {
    return UTF8String.fromString(
        parser.currentToken().isStructStart()
            ? parser.readValueAsTree().toString()
            : parser.getText());
  }

  private static Object bytes(JsonParser parser) throws IOException {
    if (parser.currentToken() != JsonToken.VALUE_STRING) {
      throw new IllegalArgumentException("base64 is a text");
    }
    return Base64Variants.MIME_NO_LINEFEEDS.decode(parser.getText());
  }

  private static JsonReader array(JsonReader element) {
    return parser -> {
      expect(parser, JsonToken.START_ARRAY, "an array");
      List<Object> elements = new ArrayList<>();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        elements.add(element.read(parser));
      }
      return new GenericArrayData(elements.toArray());
    };
  }

  private static JsonReader map(JsonReader value) {
    return parser -> {
      expect(parser, JsonToken.START_OBJECT, "an object");
      Map<UTF8String, Object> entries = new LinkedHashMap<>();
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        UTF8String key = UTF8String.fromString(parser.currentName());
        parser.nextToken();
        entries.put(key, value.read(parser));
      }
      return new ArrayBasedMapData(
          new GenericArrayData(entries.keySet().toArray()),
          new GenericArrayData(entries.values().toArray()));
    };
  }

  /**
   * Returns a reader that reads null as null. With ignoreParseErrors it also reads an invalid value
   * as null, and counts it.
   */
  public JsonReader orNull(JsonReader reader) {
    JsonReader nullable =
        parser -> parser.currentToken() == JsonToken.VALUE_NULL ? null : reader.read(parser);
    if (!ignoreErrors) {
      return nullable;
    }
    return parser -> {
      JsonStreamContext around = parser.getParsingContext();
      if (parser.currentToken().isStructStart()) {
        around = around.getParent();
      }
      try {
        return nullable.read(parser);
      } catch (DecodeException e) {
        while (parser.getParsingContext() != around) {
          parser.nextToken();
        }
        errors++;
        return null;
      }
    };
  }

  static void expect(JsonParser parser, JsonToken token, String what) throws DecodeException {
    if (parser.currentToken() != token) {
      throw new DecodeException("expected " + what + ", found " + found(parser));
    }
  }

  private static DecodeException wrong(JsonParser parser, DataType type) {
    return new DecodeException(found(parser) + " is not a valid " + Texts.name(type));
  }

  private static String found(JsonParser parser) {
    try {
      return switch (parser.currentToken()) {
        case START_OBJECT -> "an object";
        case START_ARRAY -> "an array";
        default -> "'" + Texts.shorten(parser.getText()) + "'";
      };
    } catch (IOException e) {
      return "the value"; // the text itself could not be read
    }
  }
}
