package io.streamtable.lookup;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.Predicate;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** A filter and a projection in Spark SQL, applied to single rows. */
final class RowStage implements Serializable {
  private final Expression condition;
  private final Seq<Attribute> conditionColumns;
  private final Seq<Expression> outputs;
  private final Seq<Attribute> outputColumns;
  private final StructType schema;
  private transient BasePredicate predicate;
  private transient UnsafeProjection projection;

  private RowStage(
      Expression condition,
      Seq<Attribute> conditionColumns,
      Seq<Expression> outputs,
      Seq<Attribute> outputColumns,
      StructType schema) {
    this.condition = condition;
    this.conditionColumns = conditionColumns;
    this.outputs = outputs;
    this.outputColumns = outputColumns;
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
    var noRows = JavaSparkContext.fromSparkContext(spark.sparkContext()).<Row>emptyRDD();
    Dataset<Row> rows = spark.createDataFrame(noRows, input);
    Expression filter = null;
    Seq<Attribute> filterColumns = null;
    if (condition != null) {
      LogicalPlan plan = below(rows.where(condition), Filter.class);
      // The optimizer removes a filter that is always true.
      filter = plan instanceof Filter found ? found.condition() : Literal.TrueLiteral();
      filterColumns = plan instanceof Filter found ? found.child().output() : plan.output();
    }
    if (outputs == null) {
      return new RowStage(filter, filterColumns, null, null, input);
    }
    Dataset<Row> projected = rows.selectExpr(outputs.toArray(String[]::new));
    LogicalPlan plan = below(projected, Project.class);
    Seq<Expression> expressions = null;
    Seq<Attribute> columns = plan.output();
    if (plan instanceof Project found) {
      expressions =
          CollectionConverters.asScala(
                  CollectionConverters.asJava(found.projectList()).stream()
                      .map((NamedExpression named) -> (Expression) named)
                      .toList())
              .toSeq();
      columns = found.child().output();
    }
    return new RowStage(filter, filterColumns, expressions, columns, projected.schema());
  }

  /** Returns the first operator of a class from the top; the leaf if there is none. */
  private static LogicalPlan below(Dataset<Row> rows, Class<?> type) {
    LogicalPlan plan =
        ((org.apache.spark.sql.classic.Dataset<Row>) rows).queryExecution().optimizedPlan();
    while (!type.isInstance(plan) && !plan.children().isEmpty()) {
      plan = plan.children().head();
    }
    return plan;
  }

  /** The columns of the output. */
  StructType schema() {
    return schema;
  }

  void open() {
    if (condition != null) {
      predicate = Predicate.create(condition, conditionColumns);
      predicate.initialize(0);
    }
    if (outputs != null) {
      projection = UnsafeProjection.create(outputs, outputColumns);
      projection.initialize(0);
    }
  }

  boolean holds(InternalRow row) {
    return predicate == null || predicate.eval(row);
  }

  /** Returns a row of the output that later calls do not change. */
  InternalRow output(InternalRow row) {
    return projection == null ? row : projection.apply(row).copy();
  }
}
