package io.streamtable.operators;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Row;
import scala.collection.Seq;

/**
 * A total order of rows: by the columns asked for, then by all of them from the left, so that ties
 * fall the same way every time.
 */
final class RowOrder implements Comparator<Row>, Serializable {
  private final int[] columns;
  private final boolean[] descending;
  private final boolean[] nullsFirst;

  RowOrder(int[] columns, boolean[] descending, boolean[] nullsFirst) {
    this.columns = columns;
    this.descending = descending;
    this.nullsFirst = nullsFirst;
  }

  /** By these columns, ascending. */
  static RowOrder ascending(int[] columns) {
    return new RowOrder(columns, new boolean[columns.length], new boolean[columns.length]);
  }

  /** The same of rows that have so many columns more in front. */
  RowOrder shifted(int by) {
    return new RowOrder(
        Arrays.stream(columns).map(column -> column + by).toArray(), descending, nullsFirst);
  }

  /** All rows in this order. */
  Iterator<Row> sorted(Iterator<Row> rows) {
    List<Row> all = new ArrayList<>();
    rows.forEachRemaining(all::add);
    all.sort(this);
    return all.iterator();
  }

  @Override
  public int compare(Row left, Row right) {
    for (int i = 0; i < columns.length; i++) {
      int order =
          values(left.get(columns[i]), right.get(columns[i]), descending[i], nullsFirst[i]);
      if (order != 0) {
        return order;
      }
    }
    return rows(left, right);
  }

  private static int rows(Row left, Row right) {
    for (int i = 0; i < left.length(); i++) {
      int order = values(left.get(i), right.get(i), false, true);
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  private static int values(Object left, Object right, boolean descending, boolean nullsFirst) {
    if (left == null || right == null) {
      int order = Boolean.compare(right == null, left == null);
      return nullsFirst ? order : -order;
    }
    int order = known(left, right);
    return descending ? -order : order;
  }

  private static int known(Object left, Object right) {
    if (left instanceof Row row) {
      return rows(row, (Row) right);
    }
    if (left instanceof Seq<?> items) {
      return items(items, (Seq<?>) right);
    }
    if (left instanceof Comparable || left instanceof byte[]) {
      return Values.compare(left, right);
    }
    // Maps have no order; any that tells unequal ones apart will do.
    return Integer.compare(Values.hash(left), Values.hash(right));
  }

  private static int items(Seq<?> left, Seq<?> right) {
    int shorter = Math.min(left.length(), right.length());
    for (int i = 0; i < shorter; i++) {
      int order = values(left.apply(i), right.apply(i), false, true);
      if (order != 0) {
        return order;
      }
    }
    return Integer.compare(left.length(), right.length());
  }
}
