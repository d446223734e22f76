package io.streamtable.operators.row;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import scala.collection.Map;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A total order of rows: by the specified columns, then by all columns from left to right, so that
 * ties always have the same order.
 */
public final class RowOrder implements Comparator<Row>, Serializable {
  private final int[] columns;
  private final boolean[] descending;
  private final boolean[] nullsFirst;

  public RowOrder(int[] columns, boolean[] descending, boolean[] nullsFirst) {
    this.columns = columns;
    this.descending = descending;
    this.nullsFirst = nullsFirst;
  }

  /** Orders by these columns, ascending. */
  public static RowOrder ascending(int[] columns) {
    return new RowOrder(columns, new boolean[columns.length], new boolean[columns.length]);
  }

  /** Orders by these columns, with their positions and directions. */
  public static RowOrder by(List<SortColumn> order) {
    int[] columns = new int[order.size()];
    boolean[] descending = new boolean[columns.length];
    boolean[] nullsFirst = new boolean[columns.length];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = order.get(i).position();
      descending[i] = order.get(i).descending();
      nullsFirst[i] = order.get(i).nullsFirst();
    }
    return new RowOrder(columns, descending, nullsFirst);
  }

  /** Returns whether columns are specified, and not only the order of equal rows. */
  public boolean hasColumns() {
    return columns.length > 0;
  }

  /** Returns the same order for rows with a number of additional columns in front. */
  public RowOrder shifted(int by) {
    return new RowOrder(
        Arrays.stream(columns).map(column -> column + by).toArray(), descending, nullsFirst);
  }

  /** Returns all rows in this order. */
  public Iterator<Row> sorted(Iterator<Row> rows) {
    List<Row> all = new ArrayList<>();
    rows.forEachRemaining(all::add);
    all.sort(this);
    return all.iterator();
  }

  @Override
  public int compare(Row left, Row right) {
    int order = byColumns(left, right);
    return order != 0 ? order : rows(left, right);
  }

  /** Compares by the specified columns only. */
  public int byColumns(Row left, Row right) {
    for (int i = 0; i < columns.length; i++) {
      int order =
          values(left.get(columns[i]), right.get(columns[i]), descending[i], nullsFirst[i]);
      if (order != 0) {
        return order;
      }
    }
    return 0;
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
    if (left instanceof Map<?, ?> map) {
      return items(entries(map), entries((Map<?, ?>) right));
    }
    return Values.compare(left, right);
  }

  /** Returns the entries of a map as rows in order. Equal maps may differ in their own order. */
  public static Seq<Row> entries(Map<?, ?> map) {
    List<Row> entries = new ArrayList<>(map.size());
    CollectionConverters.asJava(map)
        .forEach((key, value) -> entries.add(RowFactory.create(key, value)));
    entries.sort(RowOrder::rows);
    return CollectionConverters.asScala(entries);
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
