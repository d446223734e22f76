package io.streamtable.operators.rank;

import io.streamtable.operators.LocalFold;
import io.streamtable.operators.row.RowOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;

/**
 * Selects the first rows of each partition within a task, before the shuffle, for append-only
 * input. A row outside the task's first rows cannot be among the first rows of all tasks.
 *
 * <p>If nearly all rows of a task are first rows, the task sends the remaining rows unchanged.
 */
final class LocalTopN extends LocalFold {
  /** At least one row in this many must have been pruned, else pruning stops. */
  private static final int WORTH = 4;

  private final RowOrder order;
  private final int limit;

  /**
   * @param order order of rows with their row kind
   * @param limit maximum number of output rows of a partition
   */
  LocalTopN(int[] keyPositions, RowOrder order, int limit) {
    super(keyPositions);
    this.order = order;
    this.limit = limit;
  }

  @Override
  protected Iterator<Row> fold(Iterator<Row> input) {
    Map<Object, List<Row>> groups = new HashMap<>();
    int rows = 0;
    int held = 0;
    for (; rows < MAX_ROWS && held < MAX_HELD && input.hasNext(); rows++) {
      Row row = input.next();
      held += add(groups.computeIfAbsent(key(row), key -> new ArrayList<>(1)), row);
    }
    Iterator<Row> first = groups.values().stream().flatMap(List::stream).iterator();
    return rows - held < rows / WORTH ? chained(first, input) : first;
  }

  /** Adds a row if it is among the first. Returns the change of the number of rows. */
  private int add(List<Row> first, Row row) {
    boolean full = first.size() == limit;
    if (full && order.compare(row, first.get(limit - 1)) >= 0) {
      return 0;
    }
    int found = Collections.binarySearch(first, row, order);
    if (full) {
      first.remove(limit - 1);
    }
    first.add(found < 0 ? -1 - found : found, row);
    return full ? 0 : 1;
  }
}
