package io.streamtable.operators;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * Sums up the rows of each group within a task, before the shuffle: one row of partials per group
 * travels instead of all of its rows. Flink's local aggregation.
 *
 * <p>What is held at once is bounded; a task with more groups sends some of them more than once,
 * which adds up to the same.
 */
final class LocalAggregate implements MapPartitionsFunction<Row, Row> {
  private static final int MAX_GROUPS = 100_000;
  private static final int MAX_ROWS = 1_000_000;

  private final List<Aggregation> calls;
  private final List<Accumulator> accumulators;
  private final int[] keyPositions;
  private final PartialRows layout;

  LocalAggregate(
      List<Aggregation> calls,
      List<Accumulator> accumulators,
      int[] keyPositions,
      PartialRows layout) {
    this.calls = calls;
    this.accumulators = accumulators;
    this.keyPositions = keyPositions;
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
  public Iterator<Row> call(Iterator<Row> input) {
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

  private Iterator<Row> fold(Iterator<Row> input) {
    Map<Object, Group> groups = new HashMap<>();
    for (int rows = 0; rows < MAX_ROWS && groups.size() < MAX_GROUPS && input.hasNext(); rows++) {
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

  private Object key(Row row) {
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
