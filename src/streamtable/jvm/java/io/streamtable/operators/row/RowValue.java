package io.streamtable.operators.row;

import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/** A row as a key of maps in memory. Spark's own rows hash byte arrays by their address. */
public final class RowValue {
  private final Row row;
  private final int hash;

  public RowValue(Row row) {
    this.row = row;
    this.hash = Values.hash(row);
  }

  /** Returns some columns of a row as a new row. */
  public static Row columns(Row row, int[] positions) {
    Object[] columns = new Object[positions.length];
    for (int i = 0; i < positions.length; i++) {
      columns[i] = row.get(positions[i]);
    }
    return RowFactory.create(columns);
  }

  /** Returns the columns of a row from one position, up to another (exclusive). */
  public static Row slice(Row row, int from, int to) {
    Object[] columns = new Object[to - from];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = row.get(from + i);
    }
    return RowFactory.create(columns);
  }

  /**
   * Returns a column value as a key of maps in memory: the value, or a wrapper that compares it by
   * content.
   */
  public static Object key(Object value) {
    return Values.lacksEquality(value) ? new RowValue(RowFactory.create(value)) : value;
  }

  /** Returns the column value of a {@link #key}. */
  public static Object value(Object key) {
    return key instanceof RowValue wrapped ? wrapped.row.get(0) : key;
  }

  public Row row() {
    return row;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RowValue value && hash == value.hash && Values.same(row, value.row);
  }

  @Override
  public int hashCode() {
    return hash;
  }
}
