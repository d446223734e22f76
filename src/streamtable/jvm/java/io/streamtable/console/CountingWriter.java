package io.streamtable.console;

import io.streamtable.metrics.Counters;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.Row;

/** Counts rows and discards them. */
public final class CountingWriter extends ForeachWriter<Row> {
  private static final String RECORDS_OUT = "recordsOut";

  private final Counters counters;
  private transient long records;

  /**
   * Creates a writer.
   *
   * @param counters counters of the table
   */
  public CountingWriter(Counters counters) {
    this.counters = counters;
  }

  @Override
  public boolean open(long partition, long epoch) {
    records = 0;
    return true;
  }

  @Override
  public void process(Row row) {
    records++;
  }

  @Override
  public void close(Throwable error) {
    counters.add(RECORDS_OUT, records);
  }
}
