package io.streamtable.operators;

import io.streamtable.expressions.MethodCall;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Columns by which Spark groups the rows of a batch as state groups them: by bytes, as in Flink.
 * Spark itself takes -0.0 and 0.0 for equal, and all NaN.
 *
 * <p>A FLOAT or DOUBLE becomes the integer of its bits. The integer has the same bytes in a binary
 * row, so the key is read with its own type, and the same hash, except for -0.0 and unusual NaN.
 */
final class KeyBits {
  private KeyBits() {}

  /**
   * Returns the columns to group by.
   *
   * @param schema the schema of the columns
   */
  static Column[] of(Column[] columns, StructType schema) {
    Column[] found = new Column[columns.length];
    for (int i = 0; i < columns.length; i++) {
      DataType type = schema.apply(i).dataType();
      found[i] = hasBits(type) ? bits(columns[i], type).as(schema.apply(i).name()) : columns[i];
    }
    return found;
  }

  private static boolean hasBits(DataType type) {
    if (type instanceof StructType struct) {
      return List.of(struct.fields()).stream().anyMatch(field -> hasBits(field.dataType()));
    }
    return type instanceof ArrayType array
        ? hasBits(array.elementType())
        : type.equals(DataTypes.FloatType) || type.equals(DataTypes.DoubleType);
  }

  private static Column bits(Column column, DataType type) {
    if (type.equals(DataTypes.FloatType)) {
      return called(Float.class, "floatToRawIntBits", DataTypes.IntegerType, column);
    }
    if (type.equals(DataTypes.DoubleType)) {
      return called(Double.class, "doubleToRawLongBits", DataTypes.LongType, column);
    }
    if (!hasBits(type)) {
      return column;
    }
    if (type instanceof ArrayType array) {
      return functions.transform(column, element -> bits(element, array.elementType()));
    }
    StructType struct = (StructType) type;
    Column[] fields = new Column[struct.length()];
    for (int i = 0; i < fields.length; i++) {
      String name = struct.apply(i).name();
      fields[i] = bits(column.getField(name), struct.apply(i).dataType()).as(name);
    }
    return functions.when(column.isNotNull(), functions.struct(fields));
  }

  private static Column called(Class<?> type, String method, DataType result, Column column) {
    return ExpressionUtils.column(
        MethodCall.ofStatic(type, method, result, List.of(ExpressionUtils.expression(column))));
  }
}
