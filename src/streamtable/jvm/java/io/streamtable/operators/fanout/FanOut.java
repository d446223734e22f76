package io.streamtable.operators.fanout;

import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.query.union.StatefulUnion;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Applies several queries to each row of one input. Spark runs a source once for each place in a
 * plan; with this operator the plan has the source once.
 *
 * <p>Queries with state have the same number of operators with state. The first operators of all
 * queries become one operator of Spark ({@link StageProcessor}), and so do the second ones.
 */
public final class FanOut {
  /** Name of the column with the place of the query that gave a row, from 0. */
  public static final String PLACE = "__query";

  private final List<Integer> numbers;
  private final List<Recording> recordings;

  private FanOut(List<Integer> numbers, List<Recording> recordings) {
    this.numbers = numbers;
    this.recordings = recordings;
  }

  /**
   * Returns the rows of all queries, then the column {@link #PLACE}. Without state, the rows of an
   * input row follow each other in the order of the queries.
   *
   * @param queries each over a {@link Recording} of its own, with equal types of columns
   * @param numbers numbers of the queries in their state
   */
  public static Dataset<Row> of(
      Dataset<Row> input, List<Dataset<Row>> queries, List<Integer> numbers) {
    List<Recording> recordings = queries.stream().map(Recording::of).toList();
    List<QueryRows> last = new ArrayList<>();
    for (int i = 0; i < queries.size(); i++) {
      last.add(QueryRows.last(recordings.get(i).steps(queries.get(i)), i));
    }
    StructType output = new StructType();
    for (StructField field : queries.get(0).schema().fields()) {
      output = output.add(field.name(), field.dataType(), true);
    }
    output = output.add(PLACE, DataTypes.IntegerType, false);
    FanOut stages = new FanOut(numbers, recordings);
    int count = recordings.get(0).stages().size();
    Dataset<Row> rows = input;
    for (int i = 0; i < count; i++) {
      rows = stages.applied(stages.given(rows, i, stages.tagged(i), Tagged.SCHEMA), i);
    }
    return stages.given(rows, count, last, output);
  }

  /**
   * Returns the rows of all queries, which have equal types of columns. If all are filters and
   * projections over a {@link Recording} of the same rows, one pass over these gives all rows.
   *
   * @param realTime whether the rows are for real-time mode
   */
  public static Dataset<Row> union(List<Dataset<Row>> queries, boolean realTime) {
    Recording first = Recording.of(queries.get(0));
    if (first == null) {
      boolean stateful = realTime && StatefulUnion.isNeeded(queries);
      BinaryOperator<Dataset<Row>> union = stateful ? StatefulUnion::of : Dataset::union;
      return queries.stream().reduce(union).orElseThrow();
    }
    List<Integer> numbers = IntStream.range(0, queries.size()).boxed().toList();
    return of(first.input(), queries, numbers).drop(PLACE);
  }

  /** Returns the rows that queries give for the output of the stage before a stage. */
  private Dataset<Row> given(
      Dataset<Row> rows, int stage, List<? extends QueryRows> queries, StructType output) {
    if (stage == 0) {
      return PerRow.ofAll(rows, queries, output);
    }
    Map<Integer, PerRow.Own> own = new TreeMap<>();
    List<Recording.Stage> below = stages(stage - 1);
    for (int i = 0; i < queries.size(); i++) {
      RowBytes bytes = new RowBytes(below.get(i).output());
      own.put(numbers.get(i), new PerRow.Own(queries.get(i), bytes));
    }
    return PerRow.ofEach(rows, own, output);
  }

  private List<Recording.Stage> stages(int stage) {
    return recordings.stream().map(recording -> recording.stages().get(stage)).toList();
  }

  /** Returns what the queries do up to the shuffle of a stage, or up to their local folds. */
  private List<Tagged> tagged(int stage) {
    List<Tagged> found = new ArrayList<>();
    for (Recording.Stage own : stages(stage)) {
      Recording.Fold fold = own.fold();
      int number = numbers.get(found.size());
      found.add(
          fold == null
              ? new Tagged(number, own.keyed(), own.key(), own.row())
              : new Tagged(number, fold.before(), null, fold.taken()));
    }
    return found;
  }

  /** Applies the folds and the processors of a stage to rows of {@link Tagged#SCHEMA}. */
  private Dataset<Row> applied(Dataset<Row> rows, int stage) {
    Map<Integer, Folds.Local> folds = new TreeMap<>();
    Map<Integer, StageProcessor.Part> parts = new TreeMap<>();
    TimeMode time = null;
    for (Recording.Stage own : stages(stage)) {
      int number = numbers.get(parts.size());
      Recording.Fold fold = own.fold();
      if (fold != null) {
        Tagged after = new Tagged(number, own.keyed(), own.key(), own.row());
        folds.put(
            number,
            new Folds.Local(
                fold.fold(), new RowBytes(fold.taken()), new RowBytes(fold.given()), after));
      }
      parts.put(
          number,
          new StageProcessor.Part(
              own.processor(),
              new RowBytes(own.key()),
              new RowBytes(own.row()),
              new RowBytes(own.output())));
      if (time != null && !time.equals(own.time())) {
        throw new IllegalArgumentException("one stage with " + time + " and " + own.time());
      }
      time = own.time();
    }
    Dataset<Row> input =
        folds.isEmpty()
            ? rows
            : DirectEncoder.rows(rows)
                .mapPartitions(new Folds(folds), DirectEncoder.row(Tagged.SCHEMA));
    return StageProcessor.over(input, parts, time);
  }
}
