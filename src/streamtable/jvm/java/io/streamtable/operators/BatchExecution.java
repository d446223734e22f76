package io.streamtable.operators;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;

/**
 * Runs stateful processors over DataFrames that are not streaming, which Spark itself does not
 * support.
 *
 * <p>Jobs do not use this. The test kit, a separate jar, registers an implementation at
 * {@link Keyed#runBatches}.
 */
@FunctionalInterface
public interface BatchExecution {
  /**
   * Returns the output of a processor.
   *
   * @param keys positions of the grouping columns
   */
  Dataset<Row> run(
      Dataset<Row> input,
      int[] keys,
      StatefulProcessor<Row, Row, Row> processor,
      TimeMode time,
      Encoder<Row> output);
}
