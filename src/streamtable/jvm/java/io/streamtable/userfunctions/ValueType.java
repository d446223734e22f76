package io.streamtable.userfunctions;

import io.streamtable.userfunctions.Hints.TypeHint;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The SQL type of a value, and the Java class in which the function takes or returns it.
 *
 * @param type the type in Flink SQL; null for an argument of any type
 * @param in the class, or null for the default class of the type
 */
record ValueType(String type, Class<?> in) {
  private static final String ROW = "org.apache.flink.types.Row";

  private static final Map<Class<?>, String> TYPES =
      Map.ofEntries(
          Map.entry(String.class, "STRING"),
          Map.entry(Boolean.class, "BOOLEAN"),
          Map.entry(boolean.class, "BOOLEAN NOT NULL"),
          Map.entry(Byte.class, "TINYINT"),
          Map.entry(byte.class, "TINYINT NOT NULL"),
          Map.entry(Short.class, "SMALLINT"),
          Map.entry(short.class, "SMALLINT NOT NULL"),
          Map.entry(Integer.class, "INT"),
          Map.entry(int.class, "INT NOT NULL"),
          Map.entry(Long.class, "BIGINT"),
          Map.entry(long.class, "BIGINT NOT NULL"),
          Map.entry(Float.class, "FLOAT"),
          Map.entry(float.class, "FLOAT NOT NULL"),
          Map.entry(Double.class, "DOUBLE"),
          Map.entry(double.class, "DOUBLE NOT NULL"),
          Map.entry(byte[].class, "BYTES"),
          Map.entry(java.sql.Date.class, "DATE"),
          Map.entry(java.time.LocalDate.class, "DATE"),
          Map.entry(java.sql.Time.class, "TIME(0)"),
          Map.entry(java.time.LocalTime.class, "TIME(6)"),
          Map.entry(java.sql.Timestamp.class, "TIMESTAMP(6)"),
          Map.entry(java.time.LocalDateTime.class, "TIMESTAMP(6)"),
          Map.entry(java.time.Instant.class, "TIMESTAMP_LTZ(6)"),
          Map.entry(java.time.Duration.class, "INTERVAL DAY TO SECOND"),
          Map.entry(java.time.Period.class, "INTERVAL YEAR TO MONTH"));

  /** Returns the type of a declaration with an optional hint. */
  static ValueType of(Type declared, TypeHint hint) {
    Class<?> raw = raw(declared);
    if (hint != null && hint.any()) {
      return new ValueType(null, null);
    }
    Class<?> in = hint != null && hint.bridgedTo() != null ? hint.bridgedTo() : raw;
    if (hint != null && hint.type() != null) {
      check(in);
      return new ValueType(hint.type(), in == Object.class ? null : in);
    }
    return new ValueType(extracted(hint != null && hint.bridgedTo() != null ? in : declared), in);
  }

  /** Returns the type of the elements of an array. */
  static Type elementOf(Type array) {
    return array instanceof GenericArrayType generic
        ? generic.getGenericComponentType()
        : ((Class<?>) array).getComponentType();
  }

  Map<String, Object> toMap() {
    Map<String, Object> found = new LinkedHashMap<>();
    found.put("type", type);
    found.put("class", in == null ? null : in.getName());
    return found;
  }

  /** Checks that values of a class that a hint describes can be converted. */
  private static void check(Class<?> in) {
    Class<?> element = in;
    while (element.isArray()) {
      element = element.componentType();
    }
    boolean other = List.of(Object.class, BigDecimal.class, Map.class, List.class).contains(element);
    if (!other && !TYPES.containsKey(element) && !element.getName().equals(ROW)) {
      throw new UnusableException("class " + in.getName() + " is not supported" + advice(in));
    }
  }

  private static String extracted(Type declared) {
    Class<?> raw = raw(declared);
    String known = TYPES.get(raw);
    if (known != null) {
      return known;
    }
    if (raw.isArray()) {
      return "ARRAY<" + extracted(elementOf(declared)) + ">";
    }
    if (declared instanceof ParameterizedType generic) {
      Type[] inside = generic.getActualTypeArguments();
      if (raw == Map.class) {
        return "MAP<" + extracted(inside[0]) + ", " + extracted(inside[1]) + ">";
      }
      if (raw == List.class) {
        return "ARRAY<" + extracted(inside[0]) + ">";
      }
    }
    throw new UnusableException("class " + raw.getName() + " has no SQL type" + advice(raw));
  }

  private static String advice(Class<?> raw) {
    if (raw == BigDecimal.class) {
      return " without its precision and scale; add @DataTypeHint(\"DECIMAL(p, s)\")";
    }
    if (raw.getName().equals(ROW)) {
      return " without its fields; add @DataTypeHint(\"ROW<...>\")";
    }
    return raw == Object.class
        ? "; add @DataTypeHint"
        : "; structured types are not supported, use Row with @DataTypeHint(\"ROW<...>\")";
  }

  private static Class<?> raw(Type declared) {
    if (declared instanceof Class<?> plain) {
      return plain;
    }
    if (declared instanceof ParameterizedType generic) {
      return (Class<?>) generic.getRawType();
    }
    if (declared instanceof GenericArrayType generic) {
      return raw(generic.getGenericComponentType()).arrayType();
    }
    return Object.class; // a type variable
  }
}
