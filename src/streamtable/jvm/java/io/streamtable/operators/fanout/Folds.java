package io.streamtable.operators.fanout;

import io.streamtable.operators.LocalFold;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.TreeMap;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.InternalRow;

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
    private final Map<Integer, List<byte[]>> waiting = new TreeMap<>();
    private Local local;
    private Iterator<Row> folded = List.<Row>of().iterator();
    private final List<InternalRow> found = new ArrayList<>(2);
    private final ArrayDeque<Row> ready = new ArrayDeque<>(2);

    private Folded(Iterator<Row> input) {
      this.input = input;
    }

    @Override
    public boolean hasNext() {
      while (ready.isEmpty()) {
        if (folded.hasNext()) {
          tag(folded.next());
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
      return ready.remove();
    }

    private void tag(Row row) {
      local.after().apply(local.given().internal(row), found);
      for (InternalRow each : found) {
        ready.add(
            RowFactory.create(
                each.getInt(Tagged.NUMBER), each.getBinary(Tagged.KEY), each.getBinary(Tagged.ROW)));
      }
      found.clear();
    }

    private void take(Row row) {
      int number = row.getInt(Tagged.NUMBER);
      if (!folds.containsKey(number)) {
        ready.add(row);
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
