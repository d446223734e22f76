package io.streamtable.operators.match;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.MapState;

/**
 * The rows of a partition that matches may refer to, by their number.
 *
 * <p>State has the rows from {@link #first} up to, but not including, the row {@code stored}. Rows
 * that no match refers to at the end of a call are never written.
 */
final class MatchRows {
  private final MapState<Long, Row> state;
  private final Map<Long, Row> known = new HashMap<>();
  private final long first;
  private final long stored;
  private long next;

  MatchRows(MapState<Long, Row> state, long first, long next) {
    this.state = state;
    this.first = first;
    this.stored = next;
    this.next = next;
  }

  /** Adds a row and returns its number. */
  long add(Row row) {
    known.put(next, row);
    return next++;
  }

  Row newest() {
    return known.get(next - 1);
  }

  Row get(long number) {
    return known.computeIfAbsent(number, state::getValue);
  }

  long next() {
    return next;
  }

  /** Forgets the rows before a number, and writes the new ones. */
  void keep(long from) {
    for (long number = first; number < Math.min(from, stored); number++) {
      state.removeKey(number);
    }
    for (long number = Math.max(from, stored); number < next; number++) {
      state.updateValue(number, known.get(number));
    }
  }
}
