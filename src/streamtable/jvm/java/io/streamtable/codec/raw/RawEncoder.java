package io.streamtable.codec.raw;

import io.streamtable.codec.Encoder;
import io.streamtable.codec.Schemas;
import io.streamtable.codec.Texts;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;

/**
 * Encodes the single column of a row as its bytes. A null is a record without a value, as in Flink.
 */
public final class RawEncoder implements Encoder {
  private final String schemaDdl;
  private final Map<String, String> parameters;
  private transient Writer writer;

  /** Parameters: charset; littleEndian (true|false). */
  public RawEncoder(String schemaDdl, Map<String, String> parameters) {
    this.schemaDdl = schemaDdl;
    this.parameters = parameters;
    prepare(); // an unknown charset fails on the driver, not in a task
  }

  /** Returns the bytes of the first column, which is not null. */
  private interface Writer {
    byte[] write(InternalRow row);
  }

  /** Writes the first column into a buffer of its size. */
  private interface Number {
    void put(InternalRow row, ByteBuffer into);
  }

  @Override
  public byte[] encode(InternalRow row) {
    if (writer == null) {
      prepare();
    }
    return row.isNullAt(0) ? null : writer.write(row);
  }

  private void prepare() {
    DataType type = Schemas.of(schemaDdl).apply(0).dataType();
    Charset charset = Charset.forName(parameters.get("charset"));
    if (type instanceof BinaryType) {
      writer = row -> row.getBinary(0);
    } else if (type instanceof StringType && charset.equals(StandardCharsets.UTF_8)) {
      writer = row -> row.getUTF8String(0).getBytes();
    } else if (type instanceof StringType) {
      writer = row -> row.getUTF8String(0).toString().getBytes(charset);
    } else {
      int size = RawDecoder.size(type);
      Number number = number(type);
      writer =
          row -> {
            ByteBuffer bytes = ByteBuffer.allocate(size).order(RawDecoder.order(parameters));
            number.put(row, bytes);
            return bytes.array();
          };
    }
  }

  private static Number number(DataType type) {
    if (type instanceof BooleanType) {
      return (row, into) -> into.put((byte) (row.getBoolean(0) ? 1 : 0));
    }
    if (type instanceof ByteType) {
      return (row, into) -> into.put(row.getByte(0));
    }
    if (type instanceof ShortType) {
      return (row, into) -> into.putShort(row.getShort(0));
    }
    if (type instanceof IntegerType) {
      return (row, into) -> into.putInt(row.getInt(0));
    }
    if (type instanceof LongType) {
      return (row, into) -> into.putLong(row.getLong(0));
    }
    if (type instanceof FloatType) {
      return (row, into) -> into.putFloat(row.getFloat(0));
    }
    if (type instanceof DoubleType) {
      return (row, into) -> into.putDouble(row.getDouble(0));
    }
    throw new IllegalArgumentException("raw cannot hold " + Texts.name(type));
  }
}
