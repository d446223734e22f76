package io.streamtable.codec;

import io.streamtable.expressions.MethodCall;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;

/** Encodes a struct column into bytes; null for a null struct. */
public final class EncodedColumn implements Serializable {
  private final Encoder encoder;

  private EncodedColumn(Encoder encoder) {
    this.encoder = encoder;
  }

  /** Returns the column of the bytes. */
  public static Column of(Encoder encoder, Column struct) {
    EncodedColumn target = new EncodedColumn(encoder);
    return MethodCall.column(
        target, EncodedColumn.class, "encode", DataTypes.BinaryType, List.of(struct));
  }

  /** Returns the bytes, or null. Generated code calls it. */
  public byte[] encode(InternalRow row) {
    return row == null ? null : encoder.encode(row);
  }
}
