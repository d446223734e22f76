package io.streamtable.functions;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.jayway.jsonpath.Configuration;
import com.jayway.jsonpath.JsonPath;
import com.jayway.jsonpath.Option;
import com.jayway.jsonpath.spi.json.JacksonJsonProvider;
import com.jayway.jsonpath.spi.mapper.JacksonMappingProvider;
import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * SQL/JSON queries on a text. The fallback values are passed as the words of the clause: NULL,
 * ERROR, DEFAULT, EMPTY ARRAY, EMPTY OBJECT, TRUE, FALSE, UNKNOWN.
 */
public final class JsonFunctions {
  static final ObjectMapper MAPPER =
      new ObjectMapper()
          .configure(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, true)
          .configure(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS, true);

  private static final ObjectReader READER = MAPPER.readerFor(Object.class);
  private static final Configuration STRICT =
      Configuration.builder()
          .jsonProvider(new JacksonJsonProvider(MAPPER))
          .mappingProvider(new JacksonMappingProvider(MAPPER))
          .build();
  private static final Configuration LAX = STRICT.addOptions(Option.SUPPRESS_EXCEPTIONS);
  private static final Pattern MODE =
      Pattern.compile("\\s*(strict|lax)\\s+(.+)", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
  private static final Cache<Found> PATHS = new Cache<>(JsonFunctions::compiled);
  private static final ThreadLocal<Parsed> LAST = ThreadLocal.withInitial(Parsed::new);

  private JsonFunctions() {}

  /** A path with its mode, or the error in the path; for a value, the result at the path. */
  private static final class Found {
    private boolean lax;
    private JsonPath path;
    private Object value;
    private RuntimeException fault;
  }

  private static Found compiled(String text) {
    Found made = new Found();
    Matcher mode = MODE.matcher(text);
    boolean named = mode.matches();
    made.lax = named && mode.group(1).toLowerCase(Locale.ROOT).equals("lax");
    try {
      made.path = JsonPath.compile(named ? mode.group(2) : text);
    } catch (RuntimeException broken) { // of several classes, all of which Flink treats as an error
      made.fault = broken;
    }
    return made;
  }

  /**
   * Finds the value at a path. An invalid JSON text is an error in strict mode, and empty in lax
   * mode.
   */
  private static Found find(UTF8String json, UTF8String path) {
    Found compiled = PATHS.get(path);
    Found found = new Found();
    found.lax = compiled.lax;
    try {
      Object root = parse(json);
      if (root == null) {
        throw refused("a JSON null has no parts");
      }
      if (compiled.fault != null) {
        throw compiled.fault;
      }
      found.value = compiled.path.read(root, compiled.lax ? LAX : STRICT);
      if (found.value == null && !compiled.lax) {
        throw refused("a JSON null at a strict path");
      }
    } catch (BrokenJson broken) {
      found.fault = compiled.lax ? null : broken;
    } catch (RuntimeException missing) {
      found.fault = missing;
    }
    return found;
  }

  private static final class BrokenJson extends RuntimeException {
    BrokenJson(JsonProcessingException cause) {
      super("not JSON: " + cause.getOriginalMessage(), cause);
    }
  }

  /** The last text that a thread has parsed: a query often asks a text for several paths. */
  private static final class Parsed {
    private UTF8String text;
    private Object value;
  }

  /** Returns the value of a text, which the caller must not change. */
  private static Object parse(UTF8String json) {
    Parsed last = LAST.get();
    if (!json.equals(last.text)) {
      try {
        last.value = READER.readValue(json.toString());
      } catch (JsonProcessingException broken) {
        throw new BrokenJson(broken);
      }
      // The bytes of a column change with the next row.
      last.text = json.copy();
    }
    return last.value;
  }

  /** Writes a value as JSON, with the keys of objects in order. */
  static String write(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean isScalar(Object value) {
    return !(value instanceof Map || value instanceof List);
  }

  private static IllegalArgumentException refused(String what) {
    return new IllegalArgumentException(what);
  }

  /** Returns whether there is a non-null value at a path. */
  @SqlFunction("BOOLEAN")
  public static Boolean jsonExists(UTF8String json, UTF8String path, UTF8String onError) {
    Found found = find(json, path);
    if (found.fault == null) {
      return found.value != null;
    }
    switch (onError.toString()) {
      case "TRUE":
        return true;
      case "FALSE":
        return false;
      case "UNKNOWN":
        return null;
      default:
        throw found.fault;
    }
  }

  /**
   * Returns the scalar at a path as text.
   *
   * @param kind STRING, BOOLEAN, INT or DOUBLE; a value of another kind fails
   */
  @SqlFunction(value = "STRING", takesNulls = true)
  public static UTF8String jsonValue(
      UTF8String json,
      UTF8String path,
      UTF8String kind,
      UTF8String onEmpty,
      UTF8String emptyDefault,
      UTF8String onError,
      UTF8String errorDefault) {
    if (json == null || path == null) {
      return null;
    }
    Found found = find(json, path);
    if (found.fault == null && (found.value == null || (found.lax && !isScalar(found.value)))) {
      return instead(onEmpty, emptyDefault, refused("JSON_VALUE found nothing"));
    }
    if (found.fault == null && !isScalar(found.value)) {
      found.fault = refused("JSON_VALUE found no scalar value");
    }
    if (found.fault != null) {
      return instead(onError, errorDefault, found.fault);
    }
    return UTF8String.fromString(asKind(found.value, kind.toString()));
  }

  private static UTF8String instead(UTF8String word, UTF8String otherwise, RuntimeException fault) {
    switch (word.toString()) {
      case "NULL":
        return null;
      case "DEFAULT":
        return otherwise;
      default:
        throw fault;
    }
  }

  private static String asKind(Object value, String kind) {
    boolean fits =
        kind.equals("STRING")
            || (kind.equals("BOOLEAN") && value instanceof Boolean)
            || (kind.equals("INT") && value instanceof Integer)
            || (kind.equals("DOUBLE") && value instanceof BigDecimal);
    if (!fits) {
      throw refused("JSON_VALUE found " + value + ", which is no " + kind + " to return");
    }
    return value.toString();
  }

  /**
   * Returns the array or object at a path as JSON; `wrapper` is WITHOUT, CONDITIONAL or
   * UNCONDITIONAL.
   */
  @SqlFunction("STRING")
  public static UTF8String jsonQuery(
      UTF8String json, UTF8String path, UTF8String wrapper, UTF8String onEmpty, UTF8String onError) {
    Found found = query(json, path, wrapper);
    if (found.fault != null) {
      return emptyText(onError, found.fault);
    }
    if (found.value == null) {
      return emptyText(onEmpty, refused("JSON_QUERY found nothing"));
    }
    return UTF8String.fromString(write(found.value));
  }

  private static UTF8String emptyText(UTF8String word, RuntimeException fault) {
    switch (word.toString()) {
      case "NULL":
        return null;
      case "EMPTY ARRAY":
        return UTF8String.fromString("[]");
      case "EMPTY OBJECT":
        return UTF8String.fromString("{}");
      default:
        throw fault;
    }
  }

  /**
   * Returns the result at a path as an array of texts: scalars unchanged, arrays and objects as
   * JSON.
   */
  @SqlFunction("ARRAY<STRING>")
  public static GenericArrayData jsonQueryArray(
      UTF8String json, UTF8String path, UTF8String wrapper, UTF8String onEmpty, UTF8String onError) {
    Found found = query(json, path, wrapper);
    if (found.fault == null && found.value != null && !(found.value instanceof List)) {
      found.fault = refused("JSON_QUERY found no array");
    }
    if (found.fault != null) {
      return emptyArray(onError, found.fault);
    }
    if (found.value == null) {
      return emptyArray(onEmpty, refused("JSON_QUERY found nothing"));
    }
    return new GenericArrayData(
        ((List<?>) found.value).stream().map(JsonFunctions::element).toArray());
  }

  private static UTF8String element(Object value) {
    if (value == null) {
      return null;
    }
    return UTF8String.fromString(isScalar(value) ? value.toString() : write(value));
  }

  private static GenericArrayData emptyArray(UTF8String word, RuntimeException fault) {
    switch (word.toString()) {
      case "NULL":
        return null;
      case "EMPTY ARRAY":
        return new GenericArrayData(new Object[0]);
      default:
        throw fault;
    }
  }

  private static Found query(UTF8String json, UTF8String path, UTF8String wrapper) {
    Found found = find(json, path);
    if (found.fault != null || found.value == null) {
      return found;
    }
    String word = wrapper.toString();
    boolean wrapped =
        word.equals("UNCONDITIONAL")
            || (word.equals("CONDITIONAL") && !(found.value instanceof List));
    if (wrapped) {
      found.value = List.of(found.value);
    } else if (isScalar(found.value) && found.lax) {
      found.value = null;
    } else if (isScalar(found.value)) {
      found.fault = refused("JSON_QUERY found a scalar value");
    }
    return found;
  }

  /** Returns whether a text is JSON of this kind: VALUE, SCALAR, ARRAY or OBJECT. */
  @SqlFunction("BOOLEAN")
  public static boolean isJson(UTF8String json, UTF8String kind) {
    Object value;
    try {
      value = parse(json);
    } catch (BrokenJson broken) {
      return false;
    }
    switch (kind.toString()) {
      case "OBJECT":
        return value instanceof Map;
      case "ARRAY":
        return value instanceof List;
      case "SCALAR":
        return isScalar(value);
      default:
        return true;
    }
  }

  /** Parses a text, which must be JSON, and writes it again; null for a blank text. */
  @SqlFunction("STRING")
  public static UTF8String jsonText(UTF8String json) {
    UTF8String trimmed = UTF8String.fromString(json.toString().trim());
    return trimmed.numBytes() == 0 ? null : UTF8String.fromString(write(parse(trimmed)));
  }

  /** Writes a text as a JSON string in ASCII. */
  @SqlFunction("STRING")
  public static UTF8String jsonQuote(UTF8String text) {
    return UTF8String.fromString(JsonStrings.quote(text.toString()));
  }

  /** Returns the content of a JSON string. A text that is not JSON is returned unchanged. */
  @SqlFunction("STRING")
  public static UTF8String jsonUnquote(UTF8String text) {
    try {
      if (!(parse(text) instanceof String)) {
        return text;
      }
    } catch (BrokenJson broken) {
      return text;
    }
    return UTF8String.fromString(JsonStrings.unquote(text.toString()));
  }
}
