package io.streamtable.lookup;

import io.streamtable.operators.SparkFilter;
import io.streamtable.operators.SparkProjections;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/** A filter and a projection in Spark SQL, applied to single rows. */
final class RowStage implements Serializable {
  private final SparkFilter filter;
  private final SparkProjections outputs;
  private final StructType schema;

  private RowStage(SparkFilter filter, SparkProjections outputs, StructType schema) {
    this.filter = filter;
    this.outputs = outputs;
    this.schema = schema;
  }

  /**
   * Resolves the texts with Spark.
   *
   * @param input the columns that the texts read
   * @param condition null for no filter
   * @param outputs the output columns; null to pass rows on unchanged
   */
  static RowStage of(SparkSession spark, StructType input, String condition, List<String> outputs) {
    SparkFilter filter = condition == null ? null : SparkFilter.of(spark, condition, input);
    if (outputs == null) {
      return new RowStage(filter, null, input);
    }
    var noRows = JavaSparkContext.fromSparkContext(spark.sparkContext()).<Row>emptyRDD();
    Dataset<Row> projected =
        spark.createDataFrame(noRows, input).selectExpr(outputs.toArray(String[]::new));
    var plan =
        ((org.apache.spark.sql.classic.Dataset<Row>) projected).queryExecution().optimizedPlan();
    return new RowStage(filter, SparkProjections.of(plan), projected.schema());
  }

  /** The columns of the output. */
  StructType schema() {
    return schema;
  }

  void open() {
    if (filter != null) {
      filter.open();
    }
    if (outputs != null) {
      outputs.open();
    }
  }

  boolean holds(InternalRow row) {
    return filter == null || filter.holds(row);
  }

  /** Returns a row of the output that later calls do not change. */
  InternalRow output(InternalRow row) {
    InternalRow output = outputs == null ? row : outputs.apply(row);
    return output == row ? row : output.copy();
  }
}
