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
 *
 * <p>A task with few rows of a group soon sends each row on its own: groups that are held cost more
 * than the few rows that are saved.
 */
final class LocalAggregate extends LocalFold {
  /** After so many rows it is asked a first time whether it is worth the while. */
  private static final int TRIED = 1 << 14;
  /** One of so many must have been of a group that was there: fewer, and there are too many groups. */
  private static final int WORTH_TRYING = 16;
  /** The same of all rows that were summed up at once. */
  private static final int WORTH = 4;

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
    int rows = 0;
    boolean worth = true;
    while (worth && rows < MAX_ROWS && groups.size() < MAX_HELD && input.hasNext()) {
      Row row = input.next();
      add(groups.computeIfAbsent(key(row), key -> new Group(accumulators)), row);
      rows++;
      worth = rows != TRIED || saves(rows, groups.size(), WORTH_TRYING);
    }
    List<Row> folded = new ArrayList<>(groups.size());
    groups.forEach((key, group) -> folded.add(export(key, group)));
    return worth && saves(rows, folded.size(), WORTH)
        ? folded.iterator()
        : chained(folded.iterator(), singly(input));
  }

  private static boolean saves(int rows, int groups, int worth) {
    return rows - groups >= rows / worth;
  }

  private Iterator<Row> singly(Iterator<Row> input) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return input.hasNext();
      }

      @Override
      public Row next() {
        Row row = input.next();
        Group group = new Group(accumulators);
        add(group, row);
        return export(key(row), group);
      }
    };
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
