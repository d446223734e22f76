package io.streamtable.operators;

import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;

/** A Spark SQL condition that Spark has resolved over columns, for use inside a processor. */
public record SparkFilter(Expression condition, Seq<Attribute> columns) {
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
        Literal constant = never ? Literal.FalseLiteral() : Literal.TrueLiteral();
        return new SparkFilter(constant, plan.output());
      }
      plan = plan.children().head();
    }
    Filter filter = (Filter) plan;
    return new SparkFilter(filter.condition(), filter.child().output());
  }
}
