package io.streamtable.operators;

import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;

/**
 * Schemas with names of ours, c0, c1, ...: Spark keeps the schemas of state as Avro, which takes few
 * characters in a name, and a column that is only renamed must find its state again.
 */
final class Plain {
  private Plain() {}

  /** An encoder of rows that are told apart by position alone. */
  static Encoder<Row> row(StructType schema) {
    return Encoders.row(schema(schema));
  }

  /** The schema under plain names, those inside of its types too. */
  static StructType schema(StructType schema) {
    return (StructType) type(schema);
  }

  /** So many plain names. */
  static String[] names(int count) {
    String[] names = new String[count];
    for (int i = 0; i < count; i++) {
      names[i] = "c" + i;
    }
    return names;
  }

  private static DataType type(DataType type) {
    if (type instanceof StructType struct) {
      StructType plain = new StructType();
      for (int i = 0; i < struct.length(); i++) {
        plain = plain.add("c" + i, type(struct.apply(i).dataType()), struct.apply(i).nullable());
      }
      return plain;
    }
    if (type instanceof ArrayType array) {
      return DataTypes.createArrayType(type(array.elementType()), array.containsNull());
    }
    if (type instanceof MapType map) {
      return DataTypes.createMapType(
          type(map.keyType()), type(map.valueType()), map.valueContainsNull());
    }
    return type;
  }
}
