package io.streamtable.operators;

import java.io.Serializable;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Predicate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;

/** A condition of Spark SQL over a row of each input of a join. */
final class PairCondition implements Serializable {
  private final Expression condition;
  private final Seq<Attribute> columns;
  private final StructType left;
  private final StructType right;
  private transient BasePredicate predicate;
  private transient ExpressionEncoder.Serializer<Row> leftRows;
  private transient ExpressionEncoder.Serializer<Row> rightRows;
  private transient JoinedRow pair;

  private PairCondition(
      Expression condition, Seq<Attribute> columns, StructType left, StructType right) {
    this.condition = condition;
    this.columns = columns;
    this.left = left;
    this.right = right;
  }

  /** Has Spark resolve the text over the columns of both inputs. */
  static PairCondition of(SparkSession spark, String text, StructType left, StructType right) {
    StructType both = left;
    for (var column : right.fields()) {
      both = both.add(column);
    }
    var noRows = JavaSparkContext.fromSparkContext(spark.sparkContext()).<Row>emptyRDD();
    Dataset<Row> filtered = spark.createDataFrame(noRows, both).where(text);
    LogicalPlan plan =
        ((org.apache.spark.sql.classic.Dataset<Row>) filtered).queryExecution().optimizedPlan();
    while (!(plan instanceof Filter)) {
      if (plan.children().isEmpty()) {
        // The optimizer leaves no filter where the condition is true of every row.
        return new PairCondition(Literal.TrueLiteral(), plan.output(), left, right);
      }
      plan = plan.children().head();
    }
    Filter filter = (Filter) plan;
    return new PairCondition(filter.condition(), filter.child().output(), left, right);
  }

  void open() {
    predicate = Predicate.create(condition, columns);
    predicate.initialize(0);
    leftRows = ExpressionEncoder.apply(left).createSerializer();
    rightRows = ExpressionEncoder.apply(right).createSerializer();
    pair = new JoinedRow();
  }

  /** Fixes the row of one input, to be held against rows of the other. */
  void fix(boolean isLeft, Row row) {
    if (isLeft) {
      pair.withLeft(internal(leftRows, row));
    } else {
      pair.withRight(internal(rightRows, row));
    }
  }

  /** Whether the condition is true of the fixed row and this one. */
  boolean holds(boolean fixedLeft, Row other) {
    fix(!fixedLeft, other);
    return predicate.eval(pair);
  }

  private static InternalRow internal(ExpressionEncoder.Serializer<Row> rows, Row row) {
    // The serializer hands out one buffer again and again.
    return rows.apply(row).copy();
  }
}
