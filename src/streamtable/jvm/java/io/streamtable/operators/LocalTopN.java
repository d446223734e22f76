package io.streamtable.operators;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;

/**
 * The first rows of each partition within a task, before the shuffle, where rows are only added: one
 * that is not among them here cannot be among them all.
 *
 * <p>A task whose rows are nearly all the first ones sends the others as they are.
 */
final class LocalTopN extends LocalFold {
  /** Of so many rows at least one must have been left out for it to be worth the while. */
  private static final int WORTH = 4;

  private final RowOrder order;
  private final int limit;

  /**
   * @param order of rows with their row kind
   * @param limit how many rows of a partition may be seen
   */
  LocalTopN(int[] keyPositions, RowOrder order, int limit) {
    super(keyPositions);
    this.order = order;
    this.limit = limit;
  }

  @Override
  Iterator<Row> fold(Iterator<Row> input) {
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

  /** How many more rows there are than before. */
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
