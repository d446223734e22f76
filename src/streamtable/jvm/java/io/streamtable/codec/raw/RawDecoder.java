package io.streamtable.codec.raw;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Decoder;
import io.streamtable.codec.Schemas;
import io.streamtable.codec.Texts;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
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
import org.apache.spark.unsafe.types.UTF8String;

/** Decodes the bytes of a record as its single column. */
public final class RawDecoder implements Decoder {
  private final String schemaDdl;
  private final Map<String, String> parameters;
  private transient DataType type;
  private transient int size;
  private transient Reader reader;

  /** Parameters: charset; littleEndian (true|false). */
  public RawDecoder(String schemaDdl, Map<String, String> parameters) {
    this.schemaDdl = schemaDdl;
    this.parameters = parameters;
    prepare(); // an unknown charset fails on the driver, not in a task
  }

  /** Reads a value from the correct number of bytes. */
  private interface Reader {
    Object read(ByteBuffer bytes);
  }

  @Override
  public String format() {
    return "raw";
  }

  @Override
  public GenericInternalRow decode(byte[] bytes) throws DecodeException {
    if (reader == null) {
      prepare();
    }
    if (size > 0 && bytes.length != size) {
      throw new DecodeException(
          bytes.length + " bytes are not a valid " + Texts.name(type) + ", which has " + size);
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(order(parameters));
    return new GenericInternalRow(new Object[] {reader.read(buffer)});
  }

  // In Flink, RawFormatDeserializationSchema reads null as a row with NULL.
  @Override
  public GenericInternalRow ofNull() {
    return new GenericInternalRow(new Object[1]);
  }

  static ByteOrder order(Map<String, String> parameters) {
    boolean isLittle = Boolean.parseBoolean(parameters.get("littleEndian"));
    return isLittle ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
  }

  /** Returns the number of bytes of a value; 0 if any number is valid. */
  static int size(DataType type) {
    boolean isText = type instanceof StringType || type instanceof BinaryType;
    return isText ? 0 : type.defaultSize();
  }

  private void prepare() {
    type = Schemas.of(schemaDdl).apply(0).dataType();
    size = size(type);
    reader = reader(type, Charset.forName(parameters.get("charset")));
  }

  private static Reader reader(DataType type, Charset charset) {
    if (type instanceof BinaryType) {
      return ByteBuffer::array;
    }
    if (type instanceof StringType) {
      // Invalid UTF-8 is kept and written unchanged, as in Flink.
      return charset.equals(StandardCharsets.UTF_8)
          ? bytes -> UTF8String.fromBytes(bytes.array())
          : bytes -> UTF8String.fromString(new String(bytes.array(), charset));
    }
    if (type instanceof BooleanType) {
      return bytes -> bytes.get() != 0;
    }
    if (type instanceof ByteType) {
      return ByteBuffer::get;
    }
    if (type instanceof ShortType) {
      return ByteBuffer::getShort;
    }
    if (type instanceof IntegerType) {
      return ByteBuffer::getInt;
    }
    if (type instanceof LongType) {
      return ByteBuffer::getLong;
    }
    if (type instanceof FloatType) {
      return ByteBuffer::getFloat;
    }
    if (type instanceof DoubleType) {
      return ByteBuffer::getDouble;
    }
    throw new IllegalArgumentException("raw cannot hold " + Texts.name(type));
  }
}
