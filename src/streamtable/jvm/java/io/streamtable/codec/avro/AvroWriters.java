package io.streamtable.codec.avro;

import io.streamtable.codec.EncodeException;
import io.streamtable.codec.Encoder;
import io.streamtable.codec.Texts;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.avro.util.Utf8;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/**
 * Creates writers per type and Avro schema. Python has derived the schema from the same columns.
 */
final class AvroWriters {
  private AvroWriters() {}

  /** Writes a whole row as a record. */
  interface RowWriter {
    void write(InternalRow row, org.apache.avro.io.Encoder out) throws IOException;
  }

  /** Returns a writer of records, or of a union of null and a record, of which no value is null. */
  static RowWriter row(StructType type, Schema schema) {
    if (schema.getType() == Schema.Type.UNION) {
      int branch = 1 - schema.getIndexNamed("null");
      RowWriter record = row(type, schema.getTypes().get(branch));
      return (row, out) -> {
        out.writeIndex(branch);
        record.write(row, out);
      };
    }
    AvroWriter[] fields = new AvroWriter[type.size()];
    for (int i = 0; i < fields.length; i++) {
      Schema.Field field = schema.getFields().get(i);
      fields[i] = of(type.apply(i).dataType(), field.schema(), field.name());
    }
    return (row, out) -> {
      for (int i = 0; i < fields.length; i++) {
        fields[i].write(row, i, out);
      }
    };
  }

  private static AvroWriter of(DataType type, Schema schema, String field) {
    if (schema.getType() == Schema.Type.UNION) {
      int ofNull = schema.getIndexNamed("null");
      AvroWriter writer = present(type, schema.getTypes().get(1 - ofNull), field);
      return (from, i, out) -> {
        boolean isNull = from.isNullAt(i);
        out.writeIndex(isNull ? ofNull : 1 - ofNull);
        if (isNull) {
          out.writeNull(); // no bytes in binary, but JSON writes null
        } else {
          writer.write(from, i, out);
        }
      };
    }
    AvroWriter writer = present(type, schema, field);
    boolean takesNull = schema.getType() == Schema.Type.NULL;
    return (from, i, out) -> {
      if (from.isNullAt(i) && !takesNull) {
        throw EncodeException.unexpectedNull(field);
      }
      writer.write(from, i, out);
    };
  }

  private static AvroWriter present(DataType type, Schema schema, String field) {
    switch (schema.getType()) {
      case RECORD:
        StructType row = (StructType) type;
        RowWriter writer = row(row, schema);
        return (from, i, out) -> writer.write(from.getStruct(i, row.size()), out);
      case ARRAY:
        AvroWriter element = of(((ArrayType) type).elementType(), schema.getElementType(), field);
        return (from, i, out) -> writeArray(from.getArray(i), element, out);
      case MAP:
        AvroWriter value = of(((MapType) type).valueType(), schema.getValueType(), field);
        return (from, i, out) -> writeMap(from.getMap(i), value, out, field);
      default:
        return scalar(type, schema, field);
    }
  }

  private static AvroWriter scalar(DataType type, Schema schema, String field) {
    return switch (schema.getType()) {
      case INT -> integer(type);
      case LONG -> bigint(type, schema);
      case BYTES -> bytes(type);
      case STRING -> (from, i, out) -> out.writeString(new Utf8(from.getUTF8String(i).getBytes()));
      case ENUM -> symbol(schema, field);
      case FIXED -> fixed(type, schema.getFixedSize(), field);
      case FLOAT -> (from, i, out) -> out.writeFloat(from.getFloat(i));
      case DOUBLE -> (from, i, out) -> out.writeDouble(from.getDouble(i));
      case BOOLEAN -> (from, i, out) -> out.writeBoolean(from.getBoolean(i));
      case NULL -> (from, i, out) -> out.writeNull();
      default -> throw new IllegalArgumentException("no writer for avro type " + schema.getType());
    };
  }

  private static AvroWriter integer(DataType type) {
    if (type instanceof ByteType) {
      return (from, i, out) -> out.writeInt(from.getByte(i));
    }
    if (type instanceof ShortType) {
      return (from, i, out) -> out.writeInt(from.getShort(i));
    }
    if (type instanceof TimeType) { // milliseconds of the day
      return (from, i, out) -> out.writeInt((int) (from.getLong(i) / 1_000_000L));
    }
    return (from, i, out) -> out.writeInt(from.getInt(i));
  }

  private static AvroWriter bigint(DataType type, Schema schema) {
    if (type instanceof TimeType) { // microseconds of the day
      return (from, i, out) -> out.writeLong(from.getLong(i) / 1_000L);
    }
    boolean isTime = type instanceof TimestampNTZType || type instanceof TimestampType;
    if (!isTime || AvroReaders.isMicros(schema)) {
      return (from, i, out) -> out.writeLong(from.getLong(i));
    }
    return (from, i, out) -> out.writeLong(Math.floorDiv(from.getLong(i), 1_000L));
  }

  private static AvroWriter bytes(DataType type) {
    Bytes bytes = bytesOf(type);
    return (from, i, out) -> out.writeBytes(bytes.at(from, i));
  }

  private interface Bytes {
    byte[] at(SpecializedGetters from, int position);
  }

  private static Bytes bytesOf(DataType type) {
    if (type instanceof DecimalType decimal) {
      int precision = decimal.precision();
      int scale = decimal.scale();
      return (from, i) ->
          from.getDecimal(i, precision, scale).toJavaBigDecimal().unscaledValue().toByteArray();
    }
    return SpecializedGetters::getBinary;
  }

  private static AvroWriter symbol(Schema schema, String field) {
    return (from, i, out) -> {
      String text = from.getUTF8String(i).toString();
      if (!schema.hasEnumSymbol(text)) {
        throw EncodeException.unwritable(
            "column '" + field + "': '" + Texts.shorten(text) + "' is no symbol of the enum");
      }
      out.writeEnum(schema.getEnumOrdinal(text));
    };
  }

  /**
   * Writes a fixed: a decimal is padded to the size with its sign; any other value must have the
   * size.
   */
  private static AvroWriter fixed(DataType type, int size, String field) {
    Bytes bytes = bytesOf(type);
    boolean isNumber = type instanceof DecimalType;
    return (from, i, out) -> {
      byte[] found = bytes.at(from, i);
      if (found.length > size || (found.length < size && !isNumber)) {
        throw EncodeException.unwritable(
            "column '" + field + "': " + found.length + " bytes, the schema has " + size);
      }
      byte[] filled = new byte[size];
      int free = size - found.length;
      Arrays.fill(filled, 0, free, (byte) (found.length > 0 && found[0] < 0 ? -1 : 0));
      System.arraycopy(found, 0, filled, free, found.length);
      out.writeFixed(filled);
    };
  }

  private static void writeArray(ArrayData array, AvroWriter element, org.apache.avro.io.Encoder out)
      throws IOException {
    int size = array.numElements();
    out.writeArrayStart();
    out.setItemCount(size);
    for (int i = 0; i < size; i++) {
      out.startItem();
      element.write(array, i, out);
    }
    out.writeArrayEnd();
  }

  /**
   * Writes map entries in the order of a HashMap, as Flink does. The HashMap is filled in sorted
   * order, so that equal maps give equal bytes regardless of Spark's order; keys of a compacted
   * topic require this.
   */
  private static void writeMap(MapData map, AvroWriter value, org.apache.avro.io.Encoder out, String field)
      throws IOException {
    int size = map.numElements();
    Map<String, Integer> sorted = new TreeMap<>();
    for (int i = 0; i < size; i++) {
      if (map.keyArray().isNullAt(i)) {
        throw EncodeException.unwritable("a map in column '" + field + "' has a null key");
      }
      sorted.put(map.keyArray().getUTF8String(i).toString(), i);
    }
    // The capacity also equals Flink's, because the order depends on it.
    Map<String, Integer> positions =
        new HashMap<>(size <= 2 ? size + 1 : (int) Math.ceil(size / 0.75f));
    positions.putAll(sorted);
    out.writeMapStart();
    out.setItemCount(positions.size());
    for (Map.Entry<String, Integer> entry : positions.entrySet()) {
      out.startItem();
      out.writeString(entry.getKey());
      value.write(map.valueArray(), entry.getValue(), out);
    }
    out.writeMapEnd();
  }
}
