package io.streamtable.operators.fanout;

import io.streamtable.operators.LocalFold;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;

/** The local folds of several queries before a common shuffle, over {@link Tagged} rows. */
final class Folds implements MapPartitionsFunction<Row, Row> {
  /** The number of rows of one query that are folded together. */
  private static final int FOLDED = 1 << 15;

  /**
   * The fold of one query.
   *
   * @param taken rows that the fold takes
   * @param given rows that the fold gives
   * @param after filters and projections from the fold to the shuffle
   */
  record Local(LocalFold fold, RowBytes taken, RowBytes given, Tagged after)
      implements Serializable {}

  private final Map<Integer, Local> folds;

  /** @param folds by the number of the query */
  Folds(Map<Integer, Local> folds) {
    this.folds = folds;
  }

  @Override
  public Iterator<Row> call(Iterator<Row> input) {
    TaskContext task = TaskContext.get();
    folds.values().forEach(local -> local.after().open(task == null ? 0 : task.partitionId()));
    return new Folded(input);
  }

  private final class Folded implements Iterator<Row> {
    private final Iterator<Row> input;
    private final Map<Integer, List<byte[]>> waiting = new java.util.TreeMap<>();
    private Local local;
    private Iterator<Row> folded = List.<Row>of().iterator();
    private Row ready;

    private Folded(Iterator<Row> input) {
      this.input = input;
    }

    @Override
    public boolean hasNext() {
      while (ready == null) {
        if (folded.hasNext()) {
          ready = local.after().external(local.given().internal(folded.next()));
        } else if (input.hasNext()) {
          take(input.next());
        } else if (!waiting.isEmpty()) {
          begin(waiting.keySet().iterator().next());
        } else {
          return false;
        }
      }
      return true;
    }

    @Override
    public Row next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      Row row = ready;
      ready = null;
      return row;
    }

    private void take(Row row) {
      int number = row.getInt(Tagged.NUMBER);
      if (!folds.containsKey(number)) {
        ready = row;
        return;
      }
      List<byte[]> rows = waiting.computeIfAbsent(number, n -> new ArrayList<>());
      rows.add(row.getAs(Tagged.ROW));
      if (rows.size() == FOLDED) {
        begin(number);
      }
    }

    private void begin(int number) {
      local = folds.get(number);
      Iterator<Row> rows = waiting.remove(number).stream().map(local.taken()::row).iterator();
      try {
        folded = local.fold().call(rows);
      } catch (Exception failed) {
        throw new IllegalStateException(failed);
      }
    }
  }
}
