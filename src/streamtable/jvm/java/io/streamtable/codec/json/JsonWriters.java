package io.streamtable.codec.json;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.io.SerializedString;
import io.streamtable.codec.EncodeException;
import io.streamtable.codec.Texts;
import io.streamtable.codec.TimeText;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.YearMonthIntervalType;
import org.apache.spark.unsafe.types.UTF8String;

/** Creates writers per type, with the spelling of Flink's json format. */
public final class JsonWriters {
  private final boolean ignoreNullFields;
  private final boolean plainDecimals;
  private final NullKeys nullKeys;
  private final String nullKeyLiteral;
  private final TimeText times;

  /** The handling of a null key in a map; the names are values of the parameter. */
  enum NullKeys {
    FAIL,
    DROP,
    LITERAL
  }

  /**
   * Creates writers from a codec's parameters: ignoreNullFields, plainDecimals, isoTimestamps
   * (true|false), mapNullKeys (FAIL|DROP|LITERAL), mapNullKeyLiteral.
   */
  public static JsonWriters of(Map<String, String> parameters) {
    return new JsonWriters(
        Boolean.parseBoolean(parameters.get("ignoreNullFields")),
        Boolean.parseBoolean(parameters.get("plainDecimals")),
        NullKeys.valueOf(parameters.getOrDefault("mapNullKeys", "FAIL")),
        parameters.getOrDefault("mapNullKeyLiteral", "null"),
        new TimeText(Boolean.parseBoolean(parameters.get("isoTimestamps"))));
  }

  private JsonWriters(
      boolean ignoreNullFields,
      boolean plainDecimals,
      NullKeys nullKeys,
      String nullKeyLiteral,
      TimeText times) {
    this.ignoreNullFields = ignoreNullFields;
    this.plainDecimals = plainDecimals;
    this.nullKeys = nullKeys;
    this.nullKeyLiteral = nullKeyLiteral;
    this.times = times;
  }

  /** Writes a whole row as an object. */
  public interface RowWriter {
    void write(InternalRow row, JsonGenerator out) throws IOException;
  }

  public RowWriter row(StructType type) {
    SerializedString[] names = new SerializedString[type.size()];
    JsonWriter[] fields = new JsonWriter[names.length];
    for (int i = 0; i < fields.length; i++) {
      names[i] = new SerializedString(type.apply(i).name());
      fields[i] = of(type.apply(i).dataType());
    }
    return (row, out) -> {
      out.writeStartObject();
      for (int i = 0; i < fields.length; i++) {
        if (!row.isNullAt(i)) {
          out.writeFieldName(names[i]);
          fields[i].write(row, i, out);
        } else if (!ignoreNullFields) {
          out.writeFieldName(names[i]);
          out.writeNull();
        }
      }
      out.writeEndObject();
    };
  }

  private JsonWriter of(DataType type) {
    if (type instanceof StructType row) {
      RowWriter writer = row(row);
      return (from, i, out) -> writer.write(from.getStruct(i, row.size()), out);
    }
    if (type instanceof ArrayType array) {
      JsonWriter element = of(array.elementType());
      return (from, i, out) -> writeArray(from.getArray(i), element, out);
    }
    if (type instanceof MapType map) {
      if (!(map.keyType() instanceof StringType)) {
        throw new IllegalArgumentException("json supports only string keys, not " + map.keyType().sql());
      }
      JsonWriter value = of(map.valueType());
      return (from, i, out) -> writeMap(from.getMap(i), value, out);
    }
    return scalar(type);
  }

  private JsonWriter scalar(DataType type) {
    JsonWriter writer = number(type);
    if (writer != null) {
      return writer;
    }
    if (type instanceof StringType) {
      return (from, i, out) -> writeText(from.getUTF8String(i), out);
    }
    if (type instanceof BooleanType) {
      return (from, i, out) -> out.writeBoolean(from.getBoolean(i));
    }
    if (type instanceof BinaryType) {
      return (from, i, out) -> out.writeBinary(from.getBinary(i));
    }
    if (type instanceof DateType) {
      return (from, i, out) -> out.writeString(TimeText.formatDate(from.getInt(i)));
    }
    if (type instanceof TimeType) {
      return (from, i, out) -> out.writeString(TimeText.formatTime(from.getLong(i)));
    }
    if (type instanceof TimestampNTZType) {
      return (from, i, out) -> out.writeString(times.formatTimestamp(from.getLong(i)));
    }
    if (type instanceof TimestampType) {
      return (from, i, out) -> out.writeString(times.formatInstant(from.getLong(i)));
    }
    if (type instanceof NullType) {
      return (from, i, out) -> out.writeNull();
    }
    throw new IllegalArgumentException("json cannot hold " + Texts.name(type));
  }

  private JsonWriter number(DataType type) {
    if (type instanceof LongType) {
      return (from, i, out) -> out.writeNumber(from.getLong(i));
    }
    if (type instanceof IntegerType || type instanceof YearMonthIntervalType) {
      return (from, i, out) -> out.writeNumber(from.getInt(i));
    }
    if (type instanceof DayTimeIntervalType) { // milliseconds in Flink, microseconds in Spark
      return (from, i, out) -> out.writeNumber(Math.floorDiv(from.getLong(i), 1_000L));
    }
    if (type instanceof ShortType) {
      return (from, i, out) -> out.writeNumber(from.getShort(i));
    }
    if (type instanceof ByteType) {
      return (from, i, out) -> out.writeNumber((short) from.getByte(i));
    }
    if (type instanceof DoubleType) {
      return (from, i, out) -> out.writeNumber(from.getDouble(i));
    }
    if (type instanceof FloatType) {
      return (from, i, out) -> out.writeNumber(from.getFloat(i));
    }
    if (type instanceof DecimalType decimal) {
      int precision = decimal.precision();
      int scale = decimal.scale();
      return (from, i, out) -> writeDecimal(from.getDecimal(i, precision, scale), out);
    }
    return null;
  }

  /**
   * Writes a string. Copies the bytes if that is faster; otherwise converts them to a String, which
   * checks them.
   */
  private static void writeText(UTF8String text, JsonGenerator out) throws IOException {
    if (text.isFullAscii()) {
      out.writeUTF8String(text.getBytes(), 0, text.numBytes());
    } else {
      out.writeString(text.toString());
    }
  }

  /** Writes a decimal as Flink does: 100.00 is 100.00 as a plain number, otherwise 1E+2. */
  private void writeDecimal(Decimal number, JsonGenerator out) throws IOException {
    BigDecimal value = number.toJavaBigDecimal();
    if (plainDecimals) {
      out.writeNumber(value.toPlainString());
    } else {
      out.writeNumber(value.signum() == 0 ? BigDecimal.ZERO : value.stripTrailingZeros());
    }
  }

  private static void writeOrNull(
      JsonWriter writer, ArrayData from, int position, JsonGenerator out) throws IOException {
    if (from.isNullAt(position)) {
      out.writeNull();
    } else {
      writer.write(from, position, out);
    }
  }

  private static void writeArray(ArrayData array, JsonWriter element, JsonGenerator out)
      throws IOException {
    out.writeStartArray();
    for (int i = 0; i < array.numElements(); i++) {
      writeOrNull(element, array, i, out);
    }
    out.writeEndArray();
  }

  private void writeMap(MapData map, JsonWriter value, JsonGenerator out) throws IOException {
    out.writeStartObject();
    for (Map.Entry<String, Integer> entry : positions(map.keyArray()).entrySet()) {
      out.writeFieldName(entry.getKey());
      writeOrNull(value, map.valueArray(), entry.getValue(), out);
    }
    out.writeEndObject();
  }

  /**
   * Returns the position of each name's value. A null key may get the name of another key, and then
   * overrides it.
   */
  private Map<String, Integer> positions(ArrayData keys) {
    Map<String, Integer> positions = new LinkedHashMap<>();
    for (int i = 0; i < keys.numElements(); i++) {
      if (!keys.isNullAt(i)) {
        positions.put(keys.getUTF8String(i).toString(), i);
      } else if (nullKeys == NullKeys.LITERAL) {
        positions.put(nullKeyLiteral, i);
      } else if (nullKeys == NullKeys.FAIL) {
        throw EncodeException.unwritable(
            "a map has a null key; 'map-null-key.mode' says what becomes of it");
      }
    }
    return positions;
  }
}
