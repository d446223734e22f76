package io.streamtable.operators.aggregate;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.LocalFold;
import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.accumulator.Partial;
import io.streamtable.operators.row.RowKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * Aggregates the rows of each group within a task before the shuffle, like Flink's local
 * aggregation. One row of partial aggregates per group is shuffled instead of all of its rows.
 *
 * <p>If a task has few rows per group, it soon sends each row on its own, because buffering the
 * groups then costs more than the saved rows.
 */
public final class LocalAggregate extends LocalFold {
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

  /** Aggregates the rows of each task by group. */
  public static Dataset<Row> of(
      Dataset<Row> input,
      List<String> keys,
      List<Aggregation> calls,
      List<Accumulator> accumulators,
      PartialRows partials) {
    FoldInput read = FoldInput.of(input, Keyed.at(input, keys), calls);
    int[] keyPositions = read.keys(0);
    return read.restored(
        Keyed.folded(
            read.rows(),
            new LocalAggregate(read.calls(), accumulators, keyPositions, partials),
            partials.schema(read.rows().schema(), keyPositions)));
  }

  /** The partial aggregates of one group. */
  private static final class Group {
    private final Partial[] partials;
    private long rows;

    private Group(List<Accumulator> accumulators) {
      partials = new Partial[accumulators.size()];
      for (int i = 0; i < partials.length; i++) {
        partials[i] = accumulators.get(i).partial();
      }
    }
  }

  @Override
  protected Iterator<Row> fold(Iterator<Row> input) {
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
    putKey(key, row);
    row[layout.rowsAt()] = group.rows;
    for (int i = 0; i < group.partials.length; i++) {
      group.partials[i].export(row, layout.at(i));
    }
    return RowFactory.create(row);
  }
}
