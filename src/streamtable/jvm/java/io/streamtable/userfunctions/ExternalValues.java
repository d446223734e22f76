package io.streamtable.userfunctions;

import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Period;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.catalyst.util.IntervalUtils;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.YearMonthIntervalType;

/**
 * Converts Spark's internal values to the Java objects that Flink passes to functions. The default
 * classes are those of Flink's page *Data Types*.
 */
final class ExternalValues {
  private final ClassLoader loader;
  private FlinkRows rows;

  ExternalValues(ClassLoader loader) {
    this.loader = loader;
  }

  /** Returns the access to rows of Flink; the class is needed only for types with a ROW. */
  FlinkRows rows() throws ReflectiveOperationException {
    if (rows == null) {
      rows = new FlinkRows(loader);
    }
    return rows;
  }

  /**
   * Converts a value.
   *
   * @param in the wanted class; null for the default class of the type
   */
  Object of(Object value, DataType type, Class<?> in) throws Throwable {
    if (value == null) {
      return null;
    }
    if (type instanceof StringType) {
      return value.toString();
    }
    if (value instanceof Decimal decimal) {
      return decimal.toJavaBigDecimal();
    }
    if (type instanceof ArrayType array) {
      return array((ArrayData) value, array, in);
    }
    if (type instanceof MapType map) {
      return map((MapData) value, map);
    }
    if (type instanceof StructType struct) {
      return row((InternalRow) value, struct);
    }
    return time(value, type, in);
  }

  private static Object time(Object value, DataType type, Class<?> in) {
    if (type instanceof DateType) {
      LocalDate date = LocalDate.ofEpochDay((int) value);
      return in == java.sql.Date.class ? java.sql.Date.valueOf(date) : date;
    }
    if (type instanceof TimestampNTZType) {
      LocalDateTime time = DateTimeUtils.microsToLocalDateTime((long) value);
      return in == java.sql.Timestamp.class ? java.sql.Timestamp.valueOf(time) : time;
    }
    if (type instanceof TimestampType) {
      Instant time = DateTimeUtils.microsToInstant((long) value);
      return in == java.sql.Timestamp.class ? java.sql.Timestamp.from(time) : time;
    }
    if (type instanceof TimeType) {
      LocalTime time = LocalTime.ofNanoOfDay((long) value);
      return in == java.sql.Time.class ? java.sql.Time.valueOf(time) : time;
    }
    if (type instanceof DayTimeIntervalType) {
      return IntervalUtils.microsToDuration((long) value);
    }
    return type instanceof YearMonthIntervalType ? Period.ofMonths((int) value) : value;
  }

  private Object array(ArrayData values, ArrayType type, Class<?> in) throws Throwable {
    DataType element = type.elementType();
    int count = values.numElements();
    if (in != null && List.class.isAssignableFrom(in)) {
      List<Object> found = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        found.add(of(values.get(i, element), element, null));
      }
      return found;
    }
    Class<?> component = in != null && in.isArray() ? in.componentType() : classOf(element);
    Object found = Array.newInstance(component, count);
    for (int i = 0; i < count; i++) {
      Array.set(found, i, of(values.get(i, element), element, component));
    }
    return found;
  }

  private Map<Object, Object> map(MapData values, MapType type) throws Throwable {
    ArrayData keys = values.keyArray();
    ArrayData elements = values.valueArray();
    Map<Object, Object> found = new HashMap<>();
    for (int i = 0; i < values.numElements(); i++) {
      found.put(
          of(keys.get(i, type.keyType()), type.keyType(), null),
          of(elements.get(i, type.valueType()), type.valueType(), null));
    }
    return found;
  }

  private Object row(InternalRow values, StructType type) throws Throwable {
    Object[] found = new Object[type.length()];
    LinkedHashMap<String, Integer> positions = new LinkedHashMap<>();
    for (int i = 0; i < found.length; i++) {
      DataType field = type.apply(i).dataType();
      found[i] = of(values.get(i, field), field, null);
      positions.put(type.apply(i).name(), i);
    }
    return rows().row(found, positions);
  }

  /** Returns the default class of a type, for the elements of an array. */
  private Class<?> classOf(DataType type) throws ReflectiveOperationException {
    if (type instanceof ArrayType array) {
      return classOf(array.elementType()).arrayType();
    }
    if (type instanceof MapType) {
      return Map.class;
    }
    if (type instanceof StructType) {
      return Class.forName("org.apache.flink.types.Row", true, loader);
    }
    if (type instanceof StringType) {
      return String.class;
    }
    return switch (type.typeName().replaceAll("\\(.*", "").replaceAll(" .*", "")) {
      case "boolean" -> Boolean.class;
      case "byte" -> Byte.class;
      case "short" -> Short.class;
      case "integer" -> Integer.class;
      case "long" -> Long.class;
      case "float" -> Float.class;
      case "double" -> Double.class;
      case "binary" -> byte[].class;
      case "decimal" -> BigDecimal.class;
      case "date" -> LocalDate.class;
      case "timestamp_ntz" -> LocalDateTime.class;
      case "timestamp" -> Instant.class;
      case "time" -> LocalTime.class;
      default -> Object.class;
    };
  }
}
