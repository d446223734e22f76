package io.streamtable.functions;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * SQL/JSON queries over a text. What they give instead of a value comes as the words of the clause:
 * NULL, ERROR, DEFAULT, EMPTY ARRAY, EMPTY OBJECT, TRUE, FALSE, UNKNOWN.
 */
public final class JsonFunctions {
  static final ObjectMapper MAPPER =
      new ObjectMapper()
          .configure(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, true)
          .configure(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS, true);

  private static final ObjectReader READER = MAPPER.readerFor(Object.class);
  private static final Pattern MODE =
      Pattern.compile("\\s*(strict|lax)\\s+(.+)", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
  private static final Cache<String, Found> PATHS = new Cache<>(JsonFunctions::compiled);

  private JsonFunctions() {}

  /** A path with its mode, or why it is none; of a value, what was found there. */
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
      made.path = JsonPathParser.parse(named ? mode.group(2) : text);
    } catch (JsonPath.PathException broken) {
      made.fault = broken;
    }
    return made;
  }

  /** The value at a path. A text that is no JSON is a fault in strict mode, nothing in lax. */
  private static Found find(UTF8String json, UTF8String path) {
    Found compiled = PATHS.get(path.toString());
    Found found = new Found();
    found.lax = compiled.lax;
    try {
      Object root = parse(json);
      if (root == null) {
        throw new JsonPath.PathException("a JSON null has no parts");
      }
      if (compiled.fault != null) {
        throw compiled.fault;
      }
      found.value = compiled.path.read(root, compiled.lax);
      if (found.value == null && !compiled.lax) {
        throw new JsonPath.PathException("a JSON null at a strict path");
      }
    } catch (BrokenJson broken) {
      found.fault = compiled.lax ? null : broken;
    } catch (JsonPath.PathException missing) {
      found.fault = missing;
    }
    return found;
  }

  private static final class BrokenJson extends RuntimeException {
    BrokenJson(JsonProcessingException cause) {
      super("not JSON: " + cause.getOriginalMessage(), cause);
    }
  }

  private static Object parse(UTF8String json) {
    try {
      return READER.readValue(json.toString());
    } catch (JsonProcessingException broken) {
      throw new BrokenJson(broken);
    }
  }

  /** A value as JSON, the keys of objects in order. */
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

  /** Whether there is a value at a path that is not null. */
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
   * The scalar at a path, as text.
   *
   * @param kind STRING, BOOLEAN, INT or DOUBLE; a value of another kind fails
   */
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

  /** The array or object at a path, as JSON; `wrapper` is WITHOUT, CONDITIONAL or UNCONDITIONAL. */
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

  /** The same as an array of texts: scalars as they are, arrays and objects as JSON. */
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

  /** Whether a text is JSON, and of this kind: VALUE, SCALAR, ARRAY or OBJECT. */
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

  /** A text that must be JSON, written anew; null for a blank one. */
  public static UTF8String jsonText(UTF8String json) {
    UTF8String trimmed = UTF8String.fromString(json.toString().trim());
    return trimmed.numBytes() == 0 ? null : UTF8String.fromString(write(parse(trimmed)));
  }

  /** A text as a JSON string, ASCII only. */
  public static UTF8String jsonQuote(UTF8String text) {
    return UTF8String.fromString(JsonStrings.quote(text.toString()));
  }

  /** What a JSON string says; a text that is no JSON stays as it is. */
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
