package io.streamtable.operators;

import java.util.Arrays;
import java.util.Objects;
import org.apache.spark.sql.Row;
import scala.collection.Seq;

/** Order and equality of column values as Spark's external rows hold them. */
final class Values {
  private Values() {}

  /** SQL order of two values of one type that are not null. */
  @SuppressWarnings("unchecked")
  static int compare(Object left, Object right) {
    if (left instanceof byte[] bytes) {
      return Arrays.compareUnsigned(bytes, (byte[]) right);
    }
    return ((Comparable<Object>) left).compareTo(right);
  }

  /** Whether two columns hold the same: nulls, byte arrays and what is nested included. */
  static boolean same(Object left, Object right) {
    if (left instanceof byte[] bytes && right instanceof byte[] others) {
      return Arrays.equals(bytes, others);
    }
    if (left instanceof Row row && right instanceof Row other) {
      return sameColumns(row, other);
    }
    if (left instanceof Seq<?> items && right instanceof Seq<?> others) {
      return sameItems(items, others);
    }
    return Objects.equals(left, right);
  }

  /** A hash that equals where {@link #same} does. */
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
    return Objects.hashCode(value);
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
}
