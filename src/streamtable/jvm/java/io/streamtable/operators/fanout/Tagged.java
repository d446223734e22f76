package io.streamtable.operators.fanout;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The filters and projections of a query up to a shuffle, and the form in which its rows are
 * shuffled with those of other queries: the number of the query, the bytes of the key, the bytes of
 * the row.
 */
final class Tagged implements QueryRows {
  static final int NUMBER = 0;
  static final int KEY = 1;
  static final int ROW = 2;

  /** Columns of shuffled rows. The key is null for rows that a fold takes first. */
  static final StructType SCHEMA =
      new StructType()
          .add("c0", DataTypes.IntegerType, false)
          .add("c1", DataTypes.BinaryType, true)
          .add("c2", DataTypes.BinaryType, false);

  private final int number;
  private final RowSteps steps;
  private final StructType key;
  private final StructType row;
  private transient UnsafeProjection keys;
  private transient UnsafeProjection rows;

  /**
   * @param number of the query
   * @param steps their columns are those of the key, then those of the row
   * @param key null for rows that a fold takes
   */
  Tagged(int number, RowSteps steps, StructType key, StructType row) {
    this.number = number;
    this.steps = steps;
    this.key = key;
    this.row = row;
  }

  @Override
  public void open(int task) {
    steps.open(task);
    keys = key == null ? null : projection(key, 0);
    rows = projection(row, key == null ? 0 : key.length());
  }

  @Override
  public void apply(InternalRow input, List<InternalRow> output) {
    int first = output.size();
    steps.apply(input, number, output);
    for (int i = first; i < output.size(); i++) {
      InternalRow found = output.get(i);
      output.set(i, new GenericInternalRow(new Object[] {number, keyOf(found), rowOf(found)}));
    }
  }

  private byte[] keyOf(InternalRow found) {
    return keys == null ? null : RowBytes.of(keys.apply(found));
  }

  private byte[] rowOf(InternalRow found) {
    return RowBytes.of(rows.apply(found));
  }

  private static UnsafeProjection projection(StructType schema, int from) {
    List<Expression> columns = new ArrayList<>();
    for (int i = 0; i < schema.length(); i++) {
      var field = schema.apply(i);
      columns.add(new BoundReference(from + i, field.dataType(), field.nullable()));
    }
    return UnsafeProjection.create(CollectionConverters.asScala(columns).toSeq());
  }
}
