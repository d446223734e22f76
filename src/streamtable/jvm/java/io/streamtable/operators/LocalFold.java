package io.streamtable.operators;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;

/**
 * Rows of a task in, fewer of them out, before the shuffle: what a group needs not be told.
 *
 * <p>What is held at once is bounded; a task with more groups sends some of them more than once,
 * which comes to the same.
 */
abstract class LocalFold implements MapPartitionsFunction<Row, Row> {
  static final int MAX_HELD = 100_000;
  static final int MAX_ROWS = 1_000_000;

  final int[] keyPositions;

  LocalFold(int[] keyPositions) {
    this.keyPositions = keyPositions;
  }

  /** Takes some rows, and gives what is left of them. */
  abstract Iterator<Row> fold(Iterator<Row> input);

  @Override
  public final Iterator<Row> call(Iterator<Row> input) {
    return new Iterator<>() {
      private Iterator<Row> ready = List.<Row>of().iterator();

      @Override
      public boolean hasNext() {
        while (!ready.hasNext() && input.hasNext()) {
          ready = fold(input);
        }
        return ready.hasNext();
      }

      @Override
      public Row next() {
        hasNext();
        return ready.next();
      }
    };
  }

  /** The rows of one, then those of the other. */
  static Iterator<Row> chained(Iterator<Row> one, Iterator<Row> other) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return one.hasNext() || other.hasNext();
      }

      @Override
      public Row next() {
        return one.hasNext() ? one.next() : other.next();
      }
    };
  }

  /** What tells a row's group: the value of one column, a list of those of several. */
  final Object key(Row row) {
    if (keyPositions.length == 1) {
      return row.get(keyPositions[0]);
    }
    Object[] values = new Object[keyPositions.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = row.get(keyPositions[i]);
    }
    return Arrays.asList(values);
  }
}
