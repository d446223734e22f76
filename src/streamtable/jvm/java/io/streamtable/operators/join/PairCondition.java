package io.streamtable.operators.join;

import io.streamtable.operators.SparkFilter;
import java.io.Serializable;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.Predicate;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;

/** A Spark SQL condition over one row of each input of a join. */
public final class PairCondition implements Serializable {
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

  /**
   * Resolves the text with Spark over the columns of both inputs. Returns null if there is no text.
   */
  public static PairCondition of(Dataset<Row> input, String text, StructType left, StructType right) {
    if (text == null) {
      return null;
    }
    SparkSession spark = input.sparkSession();
    StructType both = left;
    for (var column : right.fields()) {
      both = both.add(column);
    }
    SparkFilter filter = SparkFilter.of(spark, text, both);
    return new PairCondition(filter.condition(), filter.columns(), left, right);
  }

  public void open() {
    predicate = Predicate.create(condition, columns);
    predicate.initialize(0);
    leftRows = ExpressionEncoder.apply(left).createSerializer();
    rightRows = ExpressionEncoder.apply(right).createSerializer();
    pair = new JoinedRow();
  }

  /** Sets the row of one input for comparisons with rows of the other. */
  public void fix(boolean isLeft, Row row) {
    if (isLeft) {
      pair.withLeft(internal(leftRows, row));
    } else {
      pair.withRight(internal(rightRows, row));
    }
  }

  /** Returns whether the condition is true for the fixed row and this row. */
  public boolean holds(boolean fixedLeft, Row other) {
    fix(!fixedLeft, other);
    return predicate.eval(pair);
  }

  private static InternalRow internal(ExpressionEncoder.Serializer<Row> rows, Row row) {
    // The serializer reuses one buffer for all rows.
    return rows.apply(row).copy();
  }
}
