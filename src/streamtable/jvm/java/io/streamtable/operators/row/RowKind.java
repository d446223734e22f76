package io.streamtable.operators.row;

import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/** Flink's row kinds, by their byte codes, and the position of the row kind in changelog rows. */
public final class RowKind {
  public static final byte INSERT = 0;
  public static final byte UPDATE_BEFORE = 1;
  public static final byte UPDATE_AFTER = 2;
  public static final byte DELETE = 3;

  /** Position of the row kind in every changelog row: the first column. */
  public static final int POSITION = 0;

  private RowKind() {}

  /** Returns the same row with another row kind. */
  public static Row as(byte kind, Row row) {
    Object[] columns = new Object[row.length()];
    columns[POSITION] = kind;
    for (int i = 1; i < columns.length; i++) {
      columns[i] = row.get(i);
    }
    return RowFactory.create(columns);
  }

  /** Returns a changelog row from a row kind and columns. */
  public static Row with(byte kind, Row columns) {
    Object[] row = new Object[1 + columns.length()];
    row[POSITION] = kind;
    for (int i = 0; i < columns.length(); i++) {
      row[1 + i] = columns.get(i);
    }
    return RowFactory.create(row);
  }

  /** Returns +1 for a row kind that adds its row, -1 for one that retracts it. */
  public static int sign(byte kind) {
    return kind == INSERT || kind == UPDATE_AFTER ? 1 : -1;
  }
}
