package io.streamtable.operators.fanout;

import static io.streamtable.operators.fanout.Tagged.KEY;
import static io.streamtable.operators.fanout.Tagged.NUMBER;
import static io.streamtable.operators.fanout.Tagged.ROW;

import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.bundle.BundleProcessor;
import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.state.PrefixedState;
import java.io.Serializable;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The processors of several queries in one operator. A group belongs to one query: its key is the
 * number of the query and the bytes of the query's own key.
 *
 * <p>State: that of the processors, in variables whose names begin with the number of the query. The
 * state of a query that is no longer in the job stays, and its timers do nothing.
 */
final class StageProcessor extends BundleProcessor {
  /** The processor of one query and its rows: of keys, of the input, of the output. */
  record Part(RowProcessor processor, RowBytes key, RowBytes row, RowBytes output)
      implements Serializable {}

  private final Map<Integer, Part> parts;

  private StageProcessor(Map<Integer, Part> parts) {
    this.parts = parts;
  }

  /**
   * Applies processors to rows of {@link Tagged#SCHEMA}. The output has the number of a query and
   * the bytes of its row.
   *
   * @param parts by the number of the query
   */
  static Dataset<Row> over(Dataset<Row> rows, Map<Integer, Part> parts, TimeMode time) {
    StructType columns = Tagged.SCHEMA;
    StructType key = new StructType().add(columns.apply(NUMBER)).add(columns.apply(KEY));
    StructType output = new StructType().add(columns.apply(NUMBER)).add(columns.apply(ROW));
    Dataset<Row> named = rows.toDF(columns.fieldNames());
    return named
        .groupBy(named.col(columns.fieldNames()[NUMBER]), named.col(columns.fieldNames()[KEY]))
        .as(DirectEncoder.row(key), DirectEncoder.row(columns))
        .transformWithState(
            new StageProcessor(parts), time, OutputMode.Update(), DirectEncoder.row(output));
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    parts.forEach(
        (number, part) -> {
          part.processor().setHandle(new PrefixedState(getHandle(), number));
          part.processor().init(outputMode, timeMode);
        });
  }

  @Override
  public boolean takesBundles() {
    return parts.values().stream().allMatch(part -> part.processor().takesBundles());
  }

  @Override
  public Iterator<Row> handleRows(Row key, Iterator<Row> input, TimerValues timers) {
    int number = key.getInt(NUMBER);
    Part part = parts.get(number);
    Row own = part.key().row(key.getAs(KEY));
    Iterator<Row> rows = input.map(row -> part.row().row(row.getAs(ROW)));
    return tagged(number, part, part.processor().handleRows(own, rows, timers));
  }

  @Override
  public Iterator<Row> handleExpiredTimer(Row key, TimerValues timers, ExpiredTimerInfo expired) {
    int number = key.getInt(NUMBER);
    Part part = parts.get(number);
    if (part == null) {
      return CollectionConverters.asScala(java.util.List.<Row>of().iterator());
    }
    Row own = part.key().row(key.getAs(KEY));
    return tagged(number, part, part.processor().handleExpiredTimer(own, timers, expired));
  }

  @Override
  public void close() {
    parts.values().forEach(part -> part.processor().close());
  }

  private static Iterator<Row> tagged(int number, Part part, Iterator<Row> output) {
    return output.map(row -> RowFactory.create(number, part.output().of(row)));
  }

  @Override
  public String toString() {
    return parts.values().stream()
        .map(part -> part.processor().toString())
        .distinct()
        .collect(Collectors.joining(", ", "FanOut: ", ""));
  }
}
