package io.streamtable.codec.avro;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Texts;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/** Creates readers of single values, which {@link AvroResolver} combines into rows. */
final class AvroReaders {
  private static final long MILLIS_PER_DAY = 86_400_000L;

  private AvroReaders() {}

  /**
   * Returns a reader of a type other than record, array and map. Returns null if the types do not
   * resolve. Valid are Avro's rules and two more lossless conversions: an enum to its symbol's
   * text, and a fixed to its bytes.
   */
  static AvroReader scalar(DataType type, Schema reader, Schema writer) {
    Schema.Type wanted = reader.getType();
    return switch (writer.getType()) {
      case INT -> number(type, reader, writer);
      case LONG -> wanted == Schema.Type.INT ? null : number(type, reader, writer);
      case FLOAT ->
          switch (wanted) {
            case FLOAT -> AvroInput::readFloat;
            case DOUBLE -> in -> (double) in.readFloat();
            default -> null;
          };
      case DOUBLE -> wanted == Schema.Type.DOUBLE ? AvroInput::readDouble : null;
      case BOOLEAN -> wanted == Schema.Type.BOOLEAN ? AvroInput::readBoolean : null;
      case BYTES, STRING -> bytes(type, reader, writer, AvroInput::readBytes);
      case FIXED -> {
        int size = writer.getFixedSize();
        BytesReader fixed = in -> in.readFixed(size);
        yield wanted == Schema.Type.STRING ? null : bytes(type, reader, writer, fixed);
      }
      case ENUM ->
          wanted == Schema.Type.STRING || wanted == Schema.Type.ENUM ? symbol(writer) : null;
      default -> null;
    };
  }

  private static AvroReader number(DataType type, Schema reader, Schema writer) {
    return switch (reader.getType()) {
      case INT -> integer(type);
      case LONG ->
          type instanceof TimeType && writer.getLogicalType() instanceof LogicalTypes.TimeMillis
              ? integer(type)
              : bigint(type, writer.getLogicalType() == null ? reader : writer);
      case FLOAT -> in -> (float) in.readLong();
      case DOUBLE -> in -> (double) in.readLong();
      default -> null;
    };
  }

  private interface BytesReader {
    byte[] read(AvroInput in) throws DecodeException;
  }

  private static AvroReader bytes(
      DataType type, Schema reader, Schema writer, BytesReader bytes) {
    return switch (reader.getType()) {
      case STRING -> in -> text(bytes.read(in));
      case BYTES, FIXED ->
          type instanceof DecimalType decimal ? decimal(decimal, writer, bytes) : bytes::read;
      default -> null;
    };
  }

  private static AvroReader symbol(Schema writer) {
    UTF8String[] symbols =
        writer.getEnumSymbols().stream().map(UTF8String::fromString).toArray(UTF8String[]::new);
    return in -> {
      long symbol = in.readLong();
      if (symbol < 0 || symbol >= symbols.length) {
        throw new DecodeException("symbol " + symbol + " of an enum of " + symbols.length);
      }
      return symbols[(int) symbol];
    };
  }

  private static AvroReader integer(DataType type) {
    if (type instanceof ByteType) {
      return in -> (byte) within(in.readInt(), Byte.MIN_VALUE, Byte.MAX_VALUE, type);
    }
    if (type instanceof ShortType) {
      return in -> (short) within(in.readInt(), Short.MIN_VALUE, Short.MAX_VALUE, type);
    }
    if (type instanceof TimeType) { // milliseconds of the day
      return in -> within(in.readInt(), 0, MILLIS_PER_DAY - 1, type) * 1_000_000L;
    }
    return AvroInput::readInt;
  }

  /** Reads times in the unit of the writer's schema, or else of the columns' schema. */
  private static AvroReader bigint(DataType type, Schema schema) {
    if (type instanceof TimeType) {
      return in -> within(in.readLong(), 0, MILLIS_PER_DAY * 1_000L - 1, type) * 1_000L;
    }
    boolean isTime = type instanceof TimestampNTZType || type instanceof TimestampType;
    if (!isTime || isMicros(schema)) {
      return AvroInput::readLong;
    }
    if (schema.getLogicalType() instanceof LogicalTypes.TimestampNanos
        || schema.getLogicalType() instanceof LogicalTypes.LocalTimestampNanos) {
      return in -> Math.floorDiv(in.readLong(), 1_000L);
    }
    long most = Long.MAX_VALUE / 1_000L;
    return in -> within(in.readLong(), -most, most, type) * 1_000L;
  }

  static boolean isMicros(Schema schema) {
    return schema.getLogicalType() instanceof LogicalTypes.TimestampMicros
        || schema.getLogicalType() instanceof LogicalTypes.LocalTimestampMicros;
  }

  private static long within(long value, long least, long most, DataType type)
      throws DecodeException {
    if (value < least || value > most) {
      throw new DecodeException(value + " is not a valid " + Texts.name(type));
    }
    return value;
  }

  /**
   * Reads a decimal with the writer's scale, if the writer's schema has one, and rounds it to the
   * column's scale. Null if it has too many digits, as in Flink's DecimalData.
   */
  private static AvroReader decimal(DecimalType type, Schema writer, BytesReader reader) {
    int scale =
        writer.getLogicalType() instanceof LogicalTypes.Decimal written
            ? written.getScale()
            : type.scale();
    return in -> {
      byte[] bytes = reader.read(in);
      if (bytes.length == 0) {
        throw new DecodeException("no bytes are not a valid " + type.sql());
      }
      BigDecimal number =
          new BigDecimal(new BigInteger(bytes), scale).setScale(type.scale(), RoundingMode.HALF_UP);
      return number.precision() > type.precision()
          ? null
          : Decimal.apply(number, type.precision(), type.scale());
    };
  }

  /** Decodes UTF-8. Invalid bytes become the replacement character, as in Flink. */
  private static UTF8String text(byte[] bytes) {
    UTF8String text = UTF8String.fromBytes(bytes);
    return text.isValid()
        ? text
        : UTF8String.fromString(new String(bytes, StandardCharsets.UTF_8));
  }

  static AvroReader array(AvroReader element) {
    return in -> {
      List<Object> elements = new ArrayList<>();
      for (int left = in.readBlock(); left > 0; left = in.readBlock()) {
        for (; left > 0; left--) {
          elements.add(element.read(in));
        }
      }
      return new GenericArrayData(elements.toArray());
    };
  }

  static AvroReader map(AvroReader value) {
    return in -> {
      Map<UTF8String, Object> entries = new LinkedHashMap<>();
      for (int left = in.readBlock(); left > 0; left = in.readBlock()) {
        for (; left > 0; left--) {
          entries.put(text(in.readBytes()), value.read(in));
        }
      }
      return new ArrayBasedMapData(
          new GenericArrayData(entries.keySet().toArray()),
          new GenericArrayData(entries.values().toArray()));
    };
  }
}
