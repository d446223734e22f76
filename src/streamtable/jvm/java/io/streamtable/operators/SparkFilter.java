package io.streamtable.operators;

import java.io.Serializable;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Predicate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;

/** A Spark SQL condition that Spark has resolved over columns, applied to single rows. */
public final class SparkFilter implements Serializable {
  private final SparkProjections below;
  private final Expression condition;
  private final Seq<Attribute> columns;
  private transient BasePredicate predicate;

  private SparkFilter(LogicalPlan below, Expression condition) {
    this.below = SparkProjections.of(below);
    this.condition = condition;
    this.columns = below.output();
  }

  /** Resolves a text over rows of a schema. */
  public static SparkFilter of(SparkSession spark, String text, StructType schema) {
    var noRows = JavaSparkContext.fromSparkContext(spark.sparkContext()).<Row>emptyRDD();
    Dataset<Row> filtered = spark.createDataFrame(noRows, schema).where(text);
    LogicalPlan plan =
        ((org.apache.spark.sql.classic.Dataset<Row>) filtered).queryExecution().optimizedPlan();
    while (!(plan instanceof Filter)) {
      if (plan.children().isEmpty()) {
        // The optimizer removes a filter that is always true, and all rows if it is never true.
        boolean never = plan instanceof LocalRelation;
        return new SparkFilter(plan, never ? Literal.FalseLiteral() : Literal.TrueLiteral());
      }
      plan = plan.children().head();
    }
    Filter filter = (Filter) plan;
    return new SparkFilter(filter.child(), filter.condition());
  }

  /** Compiles the condition for one task. */
  public void open() {
    below.open();
    predicate = Predicate.create(condition, columns);
    predicate.initialize(0);
  }

  /** Returns whether the condition is true for a row. */
  public boolean holds(InternalRow row) {
    return predicate.eval(below.apply(row));
  }
}
