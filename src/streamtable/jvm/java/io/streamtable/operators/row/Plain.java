package io.streamtable.operators.row;

import io.streamtable.operators.encoding.DirectEncoder;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Schemas with internal names c0, c1, ...: Spark stores the schemas of state as Avro, whose names
 * allow few characters. In addition, a renamed column must find its state again.
 */
public final class Plain {
  private Plain() {}

  /** Returns an encoder of rows whose columns are identified by position only. */
  public static Encoder<Row> row(StructType schema) {
    return DirectEncoder.row(schema(schema));
  }

  /** Returns the schema with internal names, including nested fields. */
  public static StructType schema(StructType schema) {
    return (StructType) type(schema);
  }

  /** Returns a column with internal names, including nested fields; rows have such a column. */
  public static Column column(Dataset<Row> rows, int position) {
    DataType type = rows.schema().apply(position).dataType();
    DataType plain = type(type);
    String name = "c" + position;
    Column column = rows.col(name);
    return plain.equals(type) ? column : column.cast(plain).as(name);
  }

  /** Returns rows with internal names under the names of a schema, including nested fields. */
  public static Dataset<Row> named(Dataset<Row> rows, StructType schema) {
    Column[] columns = new Column[schema.length()];
    for (int i = 0; i < columns.length; i++) {
      StructField field = schema.apply(i);
      DataType type = field.dataType();
      Column column = rows.col("c" + i);
      columns[i] = (type(type).equals(type) ? column : column.cast(type)).as(field.name());
    }
    return rows.select(columns);
  }

  /** Returns a number of internal names. */
  public static String[] names(int count) {
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
