package io.streamtable.operators.fanout;

import io.streamtable.expressions.MethodCall;
import io.streamtable.operators.encoding.DirectEncoder;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.encoders.package$;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;

/**
 * Converts rows of one schema to the bytes of Spark's binary rows and back, so that rows of several
 * queries fit into one column. Equal rows have equal bytes, as in Spark's state.
 */
public final class RowBytes implements Serializable {
  private final StructType schema;
  private transient ExpressionEncoder.Serializer<Row> serializer;
  private transient ExpressionEncoder.Deserializer<Row> deserializer;
  private transient UnsafeRow binary;

  RowBytes(StructType schema) {
    this.schema = schema;
  }

  /** Returns a column of bytes as a struct. */
  public static Column decoded(Column bytes, String ddl) {
    StructType schema = StructType.fromDDL(ddl);
    return MethodCall.column(
        new RowBytes(schema), RowBytes.class, "binary", schema, List.of(bytes));
  }

  byte[] of(Row row) {
    return of(internal(row));
  }

  /** Returns the bytes of a binary row, whose memory may be used again. */
  static byte[] of(InternalRow row) {
    return ((UnsafeRow) row).copy().getBytes();
  }

  InternalRow internal(Row row) {
    if (serializer == null) {
      serializer = encoder().createSerializer();
    }
    return serializer.apply(row);
  }

  Row row(byte[] bytes) {
    if (deserializer == null) {
      ExpressionEncoder<Row> encoder = encoder();
      deserializer =
          encoder
              .resolveAndBind(
                  encoder.resolveAndBind$default$1(), encoder.resolveAndBind$default$2())
              .createDeserializer();
    }
    return deserializer.apply(binary(bytes));
  }

  private ExpressionEncoder<Row> encoder() {
    return package$.MODULE$.encoderFor(DirectEncoder.row(schema));
  }

  /** Returns bytes as a row; the next call uses it again. */
  public InternalRow binary(byte[] bytes) {
    if (binary == null) {
      binary = new UnsafeRow(schema.length());
    }
    binary.pointTo(bytes, bytes.length);
    return binary;
  }
}
