package io.streamtable.operators.fanout;

import io.streamtable.expressions.MethodCall;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Applies several queries of filters and projections to each row of one input. Spark runs a source
 * once for each place in a plan; with this operator the plan has the source once.
 */
public final class FanOut implements Serializable {
  /** Name of the column with the number of the query that gave a row, from 0. */
  public static final String NUMBER = "__query";

  private static final String ROWS = "__rows";

  private final ArrayList<RowChain> chains;
  private transient boolean open;

  private FanOut(ArrayList<RowChain> chains) {
    this.chains = chains;
  }

  /** Returns an empty batch with the columns of an input, over which the queries are written. */
  public static Dataset<Row> noRows(Dataset<Row> input) {
    var spark = input.sparkSession();
    var none = JavaSparkContext.fromSparkContext(spark.sparkContext()).<Row>emptyRDD();
    return spark.createDataFrame(none, input.schema());
  }

  /**
   * Returns the rows of all queries, then the column {@link #NUMBER}. The rows of an input row
   * follow each other in the order of the queries.
   *
   * @param queries filters and projections over {@link #noRows}, with equal types of columns
   */
  public static Dataset<Row> of(Dataset<Row> input, List<Dataset<Row>> queries) {
    ArrayList<RowChain> chains = new ArrayList<>();
    for (Dataset<Row> query : queries) {
      var execution = ((org.apache.spark.sql.classic.Dataset<Row>) query).queryExecution();
      chains.add(RowChain.of(execution.optimizedPlan()));
    }
    StructType output = new StructType();
    for (StructField field : queries.get(0).schema().fields()) {
      output = output.add(field.name(), field.dataType(), true);
    }
    output = output.add(NUMBER, DataTypes.IntegerType, false);
    Column[] columns =
        Arrays.stream(input.columns())
            .map(name -> input.col("`" + name.replace("`", "``") + "`"))
            .toArray(Column[]::new);
    Column rows =
        MethodCall.column(
            new FanOut(chains),
            FanOut.class,
            "rows",
            DataTypes.createArrayType(output, false),
            List.of(functions.struct(columns)));
    return input.select(rows.as(ROWS)).select(functions.inline(functions.col(ROWS)));
  }

  /** Returns the rows of all queries for one input row. Generated code calls it. */
  public ArrayData rows(InternalRow input) {
    if (!open) {
      TaskContext task = TaskContext.get();
      for (RowChain chain : chains) {
        if (chain != null) {
          chain.open(task == null ? 0 : task.partitionId());
        }
      }
      open = true;
    }
    List<InternalRow> found = new ArrayList<>(chains.size());
    for (int i = 0; i < chains.size(); i++) {
      RowChain chain = chains.get(i);
      InternalRow row = chain == null ? null : chain.apply(input, i);
      if (row != null) {
        found.add(row);
      }
    }
    return new GenericArrayData(found.toArray());
  }
}
