package io.streamtable.operators.encoding;

import io.streamtable.operators.bundle.BundledRows;
import io.streamtable.operators.bundle.RowBundle;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.GetColumnByOrdinal;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Expression whose value is a Row of some columns. It takes the place of Spark's CreateExternalRow,
 * whose code Spark generates again in each task. The value of a {@link RowBundle} is its rows.
 *
 * <p>Spark copies expressions through their public constructor and compares their members.
 */
public final class DecodedRow extends Expression implements CodegenFallback, Serializable {
  private final StructType schema;
  private final Seq<Expression> columns;
  private transient StructCodec codec;
  /** Positions of the columns in input rows; null if some of them are computed. */
  private transient int[] positions;

  public DecodedRow(StructType schema, Seq<Expression> columns) {
    this.schema = schema;
    this.columns = columns;
  }

  /** Returns the deserializer of an encoder of rows, which Spark binds to the columns of a plan. */
  static DecodedRow of(StructType schema) {
    List<Expression> columns = new ArrayList<>();
    for (int i = 0; i < schema.length(); i++) {
      columns.add(new GetStructField(new GetColumnByOrdinal(0, schema), i, Option.empty()));
    }
    return new DecodedRow(schema, CollectionConverters.asScala(columns).toList());
  }

  @Override
  public Object eval(InternalRow input) {
    if (codec == null) {
      codec = DirectEncoder.codec(schema);
      positions = positions();
    }
    return input instanceof RowBundle bundle ? new BundledRows(bundle, this::row) : row(input);
  }

  private Row row(InternalRow input) {
    if (positions != null) {
      return codec.readColumns(input, positions);
    }
    Object[] values = new Object[schema.length()];
    for (int i = 0; i < values.length; i++) {
      values[i] = columns.apply(i).eval(input);
    }
    return codec.readColumns(new GenericInternalRow(values));
  }

  private int[] positions() {
    int[] found = new int[schema.length()];
    for (int i = 0; i < found.length; i++) {
      if (!(columns.apply(i) instanceof BoundReference column)) {
        return null;
      }
      found[i] = column.ordinal();
    }
    return found;
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode code) {
    return CodegenFallback.super.doGenCode(context, code);
  }

  @Override
  public DataType dataType() {
    return new ObjectType(Row.class);
  }

  @Override
  public boolean nullable() {
    return false;
  }

  @Override
  public Seq<Expression> children() {
    return columns;
  }

  @Override
  public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
    return new DecodedRow(schema, children);
  }

  @Override
  public int productArity() {
    return 2;
  }

  @Override
  public Object productElement(int at) {
    return at == 0 ? schema : columns;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof DecodedRow;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DecodedRow row
        && schema.equals(row.schema)
        && columns.equals(row.columns);
  }

  @Override
  public int hashCode() {
    return 31 * schema.hashCode() + columns.hashCode();
  }
}
