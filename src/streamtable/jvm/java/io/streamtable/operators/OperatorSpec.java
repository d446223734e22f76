package io.streamtable.operators;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * The specification of one operator: a record with a component for each name that Python passes.
 */
public interface OperatorSpec {
  /** Returns the output of the operator. */
  Dataset<Row> over(Dataset<Row> input);
}
