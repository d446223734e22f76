package io.streamtable.operators.accumulator.list;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Computes a result from values in order. If NULLs are values, each value is wrapped in a row of one
 * column.
 */
public interface ListResult extends Serializable {
  Object of(List<Object> values);

  static Object first(List<Object> values) {
    return values.isEmpty() ? null : values.get(0);
  }

  static Object last(List<Object> values) {
    return values.isEmpty() ? null : values.get(values.size() - 1);
  }

  /** Returns a result that builds an array, or null if there are no values. */
  static ListResult array(boolean wrapped) {
    return values ->
        values.isEmpty() ? null : CollectionConverters.asScala(plain(values, wrapped)).toSeq();
  }

  /** Returns a result that joins strings with a separator, or null if there are no values. */
  static ListResult joined(String separator) {
    return values -> {
      if (values.isEmpty()) {
        return null;
      }
      return String.join(separator, values.stream().map(Object::toString).toList());
    };
  }

  /** Returns a result that builds a JSON array. */
  static ListResult jsonArray(JsonText json, boolean wrapped) {
    return values -> {
      List<String> items = new ArrayList<>();
      for (Object value : plain(values, wrapped)) {
        items.add(json.of(value));
      }
      return "[" + String.join(",", items) + "]";
    };
  }

  /**
   * Returns a result that builds a JSON object from rows of (key, value), ordered by key as in
   * Flink.
   */
  static ListResult jsonObject(JsonText json, boolean withNulls) {
    return values -> {
      SortedMap<String, String> items = new TreeMap<>();
      for (Object value : values) {
        Row pair = (Row) value;
        if (pair.isNullAt(0)) {
          throw new IllegalStateException("JSON_OBJECTAGG has a NULL as key");
        }
        String key = pair.getString(0);
        if (items.put(key, JsonText.quoted(key) + ":" + json.of(pair.get(1))) != null) {
          throw new IllegalStateException(
              "JSON_OBJECTAGG has two values for the key '" + key + "'");
        }
        if (!withNulls && pair.isNullAt(1)) {
          items.put(key, "");
        }
      }
      items.values().removeIf(String::isEmpty);
      return "{" + String.join(",", items.values()) + "}";
    };
  }

  private static List<Object> plain(List<Object> values, boolean wrapped) {
    if (!wrapped) {
      return values;
    }
    List<Object> plain = new ArrayList<>(values.size());
    for (Object value : values) {
      plain.add(((Row) value).get(0));
    }
    return plain;
  }
}
