package io.streamtable.operators.match;

import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Rows that match the beginning of a pattern.
 *
 * <p>The rows of a match follow each other, and so do the rows of each variable. Therefore the
 * number of the first row and the number of rows of each variable identify all rows.
 *
 * @param state number of the state that the automaton is in
 * @param start number of the first row; {@link #NONE} if there is no row yet
 * @param time time of the first row, in milliseconds
 * @param counts number of rows of each variable
 */
record PartialMatch(int state, long start, long time, int[] counts) {
  /** The start of a match without rows, which is later than every row. */
  static final long NONE = Long.MAX_VALUE;

  static final Comparator<PartialMatch> BY_START = Comparator.comparingLong(PartialMatch::start);
  static final StructType SCHEMA =
      new StructType()
          .add("state", DataTypes.IntegerType)
          .add("start", DataTypes.LongType)
          .add("time", DataTypes.LongType)
          .add("counts", DataTypes.createArrayType(DataTypes.IntegerType));

  boolean isEmpty() {
    return start == NONE;
  }

  /** Returns the number of rows before the rows of a variable. */
  int before(int variable) {
    int rows = 0;
    for (int i = 0; i < variable; i++) {
      rows += counts[i];
    }
    return rows;
  }

  int rows() {
    return before(counts.length);
  }

  /** Returns the match with another row. */
  PartialMatch with(int variable, int next, long row, long moment) {
    int[] more = counts.clone();
    more[variable]++;
    return new PartialMatch(next, isEmpty() ? row : start, isEmpty() ? moment : time, more);
  }

  PartialMatch at(int next) {
    return new PartialMatch(next, start, time, counts);
  }

  Row toRow() {
    Object[] numbers = new Object[counts.length];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = counts[i];
    }
    return RowFactory.create(state, start, time, numbers);
  }

  static PartialMatch of(Row row) {
    List<Integer> numbers = row.getList(3);
    int[] counts = numbers.stream().mapToInt(Integer::intValue).toArray();
    return new PartialMatch(row.getInt(0), row.getLong(1), row.getLong(2), counts);
  }
}
