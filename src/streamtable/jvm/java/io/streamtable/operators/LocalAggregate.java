package io.streamtable.operators;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * Sums up the rows of each group within a task, before the shuffle: one row of partials per group
 * travels instead of all of its rows. Flink's local aggregation.
 */
final class LocalAggregate extends LocalFold {
  private final List<Aggregation> calls;
  private final List<Accumulator> accumulators;
  private final PartialRows layout;

  LocalAggregate(
      List<Aggregation> calls,
      List<Accumulator> accumulators,
      int[] keyPositions,
      PartialRows layout) {
    super(keyPositions);
    this.calls = calls;
    this.accumulators = accumulators;
    this.layout = layout;
  }

  /** What one group has summed up. */
  private static final class Group {
    private final Partial[] partials;
    private long rows;

    private Group(List<Accumulator> accumulators) {
      partials = accumulators.stream().map(Accumulator::partial).toArray(Partial[]::new);
    }
  }

  @Override
  Iterator<Row> fold(Iterator<Row> input) {
    Map<Object, Group> groups = new HashMap<>();
    for (int rows = 0; rows < MAX_ROWS && groups.size() < MAX_HELD && input.hasNext(); rows++) {
      Row row = input.next();
      add(groups.computeIfAbsent(key(row), key -> new Group(accumulators)), row);
    }
    List<Row> folded = new ArrayList<>(groups.size());
    groups.forEach((key, group) -> folded.add(export(key, group)));
    return folded.iterator();
  }

  private void add(Group group, Row row) {
    int sign = RowKind.sign(row.getByte(RowKind.POSITION));
    group.rows += sign;
    for (int i = 0; i < group.partials.length; i++) {
      Object value = calls.get(i).value(row);
      if (value != null) {
        group.partials[i].add(value, sign);
      }
    }
  }

  private Row export(Object key, Group group) {
    Object[] row = new Object[layout.length()];
    row[RowKind.POSITION] = RowKind.INSERT;
    if (keyPositions.length == 1) {
      row[1] = key;
    } else {
      List<?> values = (List<?>) key;
      for (int i = 0; i < keyPositions.length; i++) {
        row[1 + i] = values.get(i);
      }
    }
    row[layout.rowsAt()] = group.rows;
    for (int i = 0; i < group.partials.length; i++) {
      group.partials[i].export(row, layout.at(i));
    }
    return RowFactory.create(row);
  }
}
