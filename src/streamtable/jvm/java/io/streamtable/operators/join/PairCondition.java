package io.streamtable.operators.join;

import io.streamtable.operators.SparkFilter;
import java.io.Serializable;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.StructType;

/** A Spark SQL condition over one row of each input of a join. */
public final class PairCondition implements Serializable {
  private final SparkFilter filter;
  private final StructType left;
  private final StructType right;
  private transient ExpressionEncoder.Serializer<Row> leftRows;
  private transient ExpressionEncoder.Serializer<Row> rightRows;
  private transient JoinedRow pair;

  private PairCondition(SparkFilter filter, StructType left, StructType right) {
    this.filter = filter;
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
    return new PairCondition(SparkFilter.of(spark, text, both), left, right);
  }

  public void open() {
    filter.open();
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
    return filter.holds(pair);
  }

  private static InternalRow internal(ExpressionEncoder.Serializer<Row> rows, Row row) {
    // The serializer reuses one buffer for all rows.
    return rows.apply(row).copy();
  }
}
