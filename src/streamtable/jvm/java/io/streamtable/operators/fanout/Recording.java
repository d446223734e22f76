package io.streamtable.operators.fanout;

import io.streamtable.operators.LocalFold;
import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.row.Plain;
import io.streamtable.query.OwnNodes;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.StructType;

/**
 * The operators of one query that shares its input with others. The query is written over an empty
 * DataFrame. Spark's own filters and projections stay in its plan; an operator with state ends the
 * plan, is recorded here, and the query goes on over another empty DataFrame.
 */
public final class Recording {
  /**
   * A local fold before a shuffle.
   *
   * @param before filters and projections up to the fold
   * @param taken columns of its input
   * @param given columns of its output
   */
  record Fold(RowSteps before, StructType taken, LocalFold fold, StructType given) {}

  /**
   * An operator with state.
   *
   * @param fold the fold below it, or null
   * @param keyed filters and projections up to the shuffle; their columns are those of the key, then
   *     those of the row
   */
  record Stage(
      Fold fold,
      RowSteps keyed,
      StructType key,
      StructType row,
      RowProcessor processor,
      TimeMode time,
      StructType output) {}

  private final SparkSession spark;
  private final Dataset<Row> input;
  private final List<Stage> stages = new ArrayList<>();
  private final List<RowChain> chains = new ArrayList<>();
  private final List<Boolean> pairs = new ArrayList<>();
  private Fold fold;

  private Recording(Dataset<Row> input) {
    this.spark = (SparkSession) input.sparkSession();
    this.input = input;
  }

  /** Returns an empty batch with the columns of an input, over which one query is written. */
  public static Dataset<Row> begin(Dataset<Row> input) {
    return new Recording(input).noRows(input.schema());
  }

  /** Returns the recording of a query that is being written; null for any other DataFrame. */
  public static Recording of(Dataset<Row> query) {
    LogicalPlan plan = OwnNodes.analyzed(query);
    while (plan.children().size() == 1) {
      plan = plan.children().head();
    }
    return plan instanceof LogicalRDD leaf && leaf.rdd() instanceof RecordedRows rows
        ? rows.recording()
        : null;
  }

  /**
   * Records a paired filter and returns an empty batch with the columns of its output.
   *
   * @param before whether the filter emits update-before rows
   */
  public Dataset<Row> paired(Dataset<Row> query, boolean before, StructType output) {
    chains.add(RowChain.of(optimized(query)));
    pairs.add(before);
    return noRows(output);
  }

  /** Records a fold and returns an empty batch with the columns of its output. */
  public Dataset<Row> folded(Dataset<Row> query, LocalFold local, StructType output) {
    fold = new Fold(steps(query), query.schema(), local, output);
    return noRows(output);
  }

  /** Records an operator with state and returns an empty batch with internal names of its output. */
  public Dataset<Row> stateful(
      Dataset<Row> query,
      Column[] keys,
      RowProcessor processor,
      TimeMode time,
      StructType output) {
    StructType plain = Plain.schema(output);
    Column[] columns = new Column[keys.length + query.columns().length];
    System.arraycopy(keys, 0, columns, 0, keys.length);
    for (int i = keys.length; i < columns.length; i++) {
      columns[i] = query.col(query.columns()[i - keys.length]);
    }
    stages.add(
        new Stage(
            fold,
            steps(query.select(columns)),
            query.select(keys).schema(),
            query.schema(),
            processor,
            time,
            plain));
    fold = null;
    return noRows(plain);
  }

  /** Returns the rows over which the query is written. */
  Dataset<Row> input() {
    return input;
  }

  List<Stage> stages() {
    return stages;
  }

  /** Returns the steps of a query since its last fold or operator with state. */
  RowSteps steps(Dataset<Row> query) {
    chains.add(RowChain.of(optimized(query)));
    RowSteps steps = new RowSteps(chains, pairs);
    chains.clear();
    pairs.clear();
    return steps;
  }

  private static LogicalPlan optimized(Dataset<Row> query) {
    return ((org.apache.spark.sql.classic.Dataset<Row>) query).queryExecution().optimizedPlan();
  }

  private Dataset<Row> noRows(StructType schema) {
    RecordedRows none = new RecordedRows(spark.sparkContext(), this);
    return spark.internalCreateDataFrame((org.apache.spark.rdd.RDD<InternalRow>) none, schema, false);
  }
}
