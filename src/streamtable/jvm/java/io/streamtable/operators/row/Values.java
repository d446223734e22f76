package io.streamtable.operators.row;

import java.time.Period;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Objects;
import org.apache.spark.sql.Row;
import scala.collection.Map;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Order and equality of column values in Spark's external rows. */
public final class Values {
  private Values() {}

  /** Compares two values of one type, which are not null, in SQL order. */
  @SuppressWarnings("unchecked")
  public static int compare(Object left, Object right) {
    if (left instanceof byte[] bytes) {
      return Arrays.compareUnsigned(bytes, (byte[]) right);
    }
    if (left instanceof String text) {
      return compareTexts(text, (String) right);
    }
    if (left instanceof Period months) {
      return Long.compare(months.toTotalMonths(), ((Period) right).toTotalMonths());
    }
    return ((Comparable<Object>) left).compareTo(right);
  }

  /**
   * Compares texts by their code points, the order of their UTF-8 bytes. Java's order differs for
   * characters outside the basic plane, which are two surrogates in a String.
   */
  private static int compareTexts(String left, String right) {
    int length = Math.min(left.length(), right.length());
    for (int i = 0; i < length; i++) {
      char one = left.charAt(i);
      char other = right.charAt(i);
      if (one != other) {
        boolean isOne = Character.isSurrogate(one);
        return isOne == Character.isSurrogate(other) ? one - other : isOne ? 1 : -1;
      }
    }
    return left.length() - right.length();
  }

  /**
   * Returns whether two column values are equal, including nulls, byte arrays, maps and nested
   * values.
   */
  public static boolean same(Object left, Object right) {
    if (left instanceof byte[] bytes && right instanceof byte[] others) {
      return Arrays.equals(bytes, others);
    }
    if (left instanceof Row row && right instanceof Row other) {
      return sameColumns(row, other);
    }
    if (left instanceof Seq<?> items && right instanceof Seq<?> others) {
      return sameItems(items, others);
    }
    if (left instanceof Map<?, ?> map && right instanceof Map<?, ?> other) {
      return sameEntries(map, other);
    }
    return Objects.equals(left, right);
  }

  /** Returns a hash that is consistent with {@link #same}. */
  static int hash(Object value) {
    if (value instanceof byte[] bytes) {
      return Arrays.hashCode(bytes);
    }
    int hash = 1;
    if (value instanceof Row row) {
      for (int i = 0; i < row.length(); i++) {
        hash = 31 * hash + hash(row.get(i));
      }
      return hash;
    }
    if (value instanceof Seq<?> items) {
      for (int i = 0; i < items.length(); i++) {
        hash = 31 * hash + hash(items.apply(i));
      }
      return hash;
    }
    if (value instanceof Map<?, ?> map) {
      // The order of the entries does not matter.
      for (var entry : CollectionConverters.asJava(map).entrySet()) {
        hash += 31 * hash(entry.getKey()) ^ hash(entry.getValue());
      }
      return hash;
    }
    return Objects.hashCode(value);
  }

  /** Returns whether Java's own equality of a value may differ from {@link #same}. */
  static boolean lacksEquality(Object value) {
    return value instanceof byte[]
        || value instanceof Row
        || value instanceof Seq<?>
        || value instanceof Map<?, ?>;
  }

  private static boolean sameColumns(Row left, Row right) {
    boolean same = left.length() == right.length();
    for (int i = 0; same && i < left.length(); i++) {
      same = same(left.get(i), right.get(i));
    }
    return same;
  }

  private static boolean sameItems(Seq<?> left, Seq<?> right) {
    boolean same = left.length() == right.length();
    for (int i = 0; same && i < left.length(); i++) {
      same = same(left.apply(i), right.apply(i));
    }
    return same;
  }

  private static boolean sameEntries(Map<?, ?> left, Map<?, ?> right) {
    boolean same = left.size() == right.size();
    java.util.Map<Object, Object> others = new HashMap<>();
    if (same) {
      CollectionConverters.asJava(right)
          .forEach((key, value) -> others.put(RowValue.key(key), value));
    }
    var entries = CollectionConverters.asJava(left).entrySet().iterator();
    while (same && entries.hasNext()) {
      var entry = entries.next();
      Object key = RowValue.key(entry.getKey());
      same = others.containsKey(key) && same(entry.getValue(), others.get(key));
    }
    return same;
  }
}
