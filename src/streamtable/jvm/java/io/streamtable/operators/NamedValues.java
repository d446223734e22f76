package io.streamtable.operators;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** Creates records from names and values that Python passes. Both sides must use the same names. */
final class NamedValues {
  private NamedValues() {}

  /** Creates a record whose components have exactly the names of the values. */
  static <T> T record(Class<T> type, Map<?, ?> values) {
    RecordComponent[] parts = type.getRecordComponents();
    Set<Object> names = new TreeSet<>();
    Arrays.stream(parts).map(RecordComponent::getName).forEach(names::add);
    if (!names.equals(new TreeSet<Object>(values.keySet()))) {
      throw new IllegalArgumentException(
          type.getSimpleName() + " has " + names + ", not " + new TreeSet<Object>(values.keySet()));
    }
    Class<?>[] types = Arrays.stream(parts).map(RecordComponent::getType).toArray(Class[]::new);
    Object[] given =
        Arrays.stream(parts)
            .map(part -> value(part.getGenericType(), values.get(part.getName())))
            .toArray();
    try {
      Constructor<T> constructor = type.getDeclaredConstructor(types);
      return constructor.newInstance(given);
    } catch (InvocationTargetException failed) {
      throw new IllegalArgumentException(type.getSimpleName(), failed.getCause());
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /**
   * Converts a value to the type of a record component. py4j passes numbers as wide as they need to
   * be.
   */
  private static Object value(Type type, Object given) {
    if (given == null) {
      return null;
    }
    if (type instanceof ParameterizedType list && list.getRawType() == List.class) {
      Type element = list.getActualTypeArguments()[0];
      // Copy: the list from Python is a py4j view that cannot be serialized to a task.
      List<Object> found = new ArrayList<>();
      ((List<?>) given).forEach(each -> found.add(value(element, each)));
      return found;
    }
    Class<?> wanted =
        (Class<?>) (type instanceof ParameterizedType generic ? generic.getRawType() : type);
    if (wanted.isRecord() && given instanceof Map<?, ?> values) {
      return record(wanted, values);
    }
    if (wanted == int.class || wanted == Integer.class) {
      return Math.toIntExact(((Number) given).longValue());
    }
    if (wanted == long.class || wanted == Long.class) {
      return ((Number) given).longValue();
    }
    if (wanted.isEnum()) {
      return Arrays.stream(wanted.getEnumConstants())
          .filter(constant -> ((Enum<?>) constant).name().equals(given))
          .findFirst()
          .orElseThrow(() -> new IllegalArgumentException("no " + wanted + " " + given));
    }
    if (wanted == StructType.class) {
      return StructType.fromDDL((String) given);
    }
    if (wanted == DataType.class) {
      return DataType.fromDDL((String) given);
    }
    if (wanted == boolean.class ? given instanceof Boolean : wanted.isInstance(given)) {
      return given;
    }
    throw new IllegalArgumentException(
        "a " + given.getClass().getSimpleName() + " where a " + wanted.getSimpleName() + " goes");
  }
}
