package io.streamtable.functions;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import java.util.IllegalFormatException;
import java.util.Locale;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Functions with any number of arguments of any type, which are passed as one row with its type.
 */
public final class Rows {
  private static final char RAW = '1';

  private Rows() {}

  /**
   * JSON_OBJECT of alternating keys and values.
   *
   * @param absentOnNull whether to omit an entry with a null value instead of writing null
   * @param raw one character per field: 1 for a value that is JSON already
   */
  @SqlFunction(value = "STRING", takesNulls = true)
  public static UTF8String jsonObject(
      boolean absentOnNull, UTF8String raw, InternalRow row, StructType type) {
    ObjectNode object = JsonFunctions.MAPPER.createObjectNode();
    for (int i = 0; i < type.size(); i += 2) {
      JsonNode value = value(raw, row, type, i + 1);
      if (!absentOnNull || !value.isNull()) {
        object.set(row.getString(i), value);
      }
    }
    return written(object);
  }

  /** JSON_ARRAY. For parameters see JSON_OBJECT. */
  @SqlFunction(value = "STRING", takesNulls = true)
  public static UTF8String jsonArray(
      boolean absentOnNull, UTF8String raw, InternalRow row, StructType type) {
    ArrayNode array = JsonFunctions.MAPPER.createArrayNode();
    for (int i = 0; i < type.size(); i++) {
      JsonNode value = value(raw, row, type, i);
      if (!absentOnNull || !value.isNull()) {
        array.add(value);
      }
    }
    return written(array);
  }

  /** JSON_STRING of the only field; null for a null. */
  @SqlFunction(value = "STRING", takesNulls = true)
  public static UTF8String jsonString(InternalRow row, StructType type) {
    if (row.isNullAt(0)) {
      return null;
    }
    return written(JsonNodes.of(row, 0, type.fields()[0].dataType()));
  }

  /** PRINTF; null if the format does not match the values. */
  @SqlFunction(value = "STRING", takesNulls = true)
  public static UTF8String printf(UTF8String format, InternalRow row, StructType type) {
    if (format == null) {
      return null;
    }
    Object[] values = new Object[type.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = row.isNullAt(i) ? null : shown(row, i, type.fields()[i].dataType());
    }
    try {
      return UTF8String.fromString(String.format(Locale.US, format.toString(), values));
    } catch (IllegalFormatException misfit) {
      return null;
    }
  }

  /**
   * Converts a value for a format. Decimals and timestamps are objects that formats can only print
   * as text.
   */
  private static Object shown(InternalRow row, int at, DataType type) {
    if (type instanceof DecimalType) {
      DecimalType kind = (DecimalType) type;
      return row.getDecimal(at, kind.precision(), kind.scale()).toJavaBigDecimal().toPlainString();
    }
    if (type.equals(DataTypes.TimestampType) || type.equals(DataTypes.TimestampNTZType)) {
      return DateTimeUtils.microsToLocalDateTime(row.getLong(at)).toString();
    }
    return row.get(at, type);
  }

  private static JsonNode value(UTF8String raw, InternalRow row, StructType type, int at) {
    if (!row.isNullAt(at) && raw.toString().charAt(at) == RAW) {
      return JsonFunctions.MAPPER.getNodeFactory().rawValueNode(new RawValue(row.getString(at)));
    }
    return JsonNodes.of(row, at, type.fields()[at].dataType());
  }

  private static UTF8String written(JsonNode node) {
    try {
      // Through plain maps, which are written in the order of their keys.
      return UTF8String.fromString(
          JsonFunctions.write(JsonFunctions.MAPPER.treeToValue(node, Object.class)));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
