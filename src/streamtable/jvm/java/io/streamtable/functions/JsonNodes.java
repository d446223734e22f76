package io.streamtable.functions;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;

/** Converts values to JSON: timestamps in ISO format, bytes in base64, maps and rows as objects. */
final class JsonNodes {
  private static final JsonNodeFactory NODES = JsonFunctions.MAPPER.getNodeFactory();

  private JsonNodes() {}

  static JsonNode of(SpecializedGetters from, int at, DataType type) {
    if (from.isNullAt(at)) {
      return NODES.nullNode();
    }
    if (type instanceof DecimalType) {
      DecimalType kind = (DecimalType) type;
      return NODES.numberNode(
          from.getDecimal(at, kind.precision(), kind.scale()).toJavaBigDecimal());
    }
    if (type instanceof ArrayType) {
      return array(from.getArray(at), ((ArrayType) type).elementType());
    }
    if (type instanceof MapType) {
      return map(from.getMap(at), (MapType) type);
    }
    if (type instanceof StructType) {
      StructType struct = (StructType) type;
      return row(from.getStruct(at, struct.size()), struct);
    }
    return scalar(from, at, type);
  }

  private static JsonNode scalar(SpecializedGetters from, int at, DataType type) {
    switch (type.typeName()) {
      case "boolean":
        return NODES.booleanNode(from.getBoolean(at));
      case "byte":
        return NODES.numberNode(from.getByte(at));
      case "short":
        return NODES.numberNode(from.getShort(at));
      case "integer":
        return NODES.numberNode(from.getInt(at));
      case "long":
        return NODES.numberNode(from.getLong(at));
      case "float":
        return NODES.numberNode(from.getFloat(at));
      case "double":
        return NODES.numberNode(from.getDouble(at));
      case "string":
        return NODES.textNode(from.getUTF8String(at).toString());
      case "binary":
        return NODES.binaryNode(from.getBinary(at));
      case "timestamp":
        return NODES.textNode(iso(from.getLong(at)) + "Z");
      case "timestamp_ntz":
        return NODES.textNode(iso(from.getLong(at)));
      default:
        throw new IllegalStateException("no JSON for " + type);
    }
  }

  private static String iso(long micros) {
    LocalDateTime moment = DateTimeUtils.microsToLocalDateTime(micros);
    return moment.format(DateTimeFormatter.ISO_LOCAL_DATE_TIME);
  }

  private static ArrayNode array(ArrayData items, DataType type) {
    ArrayNode found = NODES.arrayNode();
    for (int i = 0; i < items.numElements(); i++) {
      found.add(of(items, i, type));
    }
    return found;
  }

  private static ObjectNode map(MapData entries, MapType type) {
    ObjectNode found = NODES.objectNode();
    for (int i = 0; i < entries.numElements(); i++) {
      String key = entries.keyArray().getUTF8String(i).toString();
      found.set(key, of(entries.valueArray(), i, type.valueType()));
    }
    return found;
  }

  private static ObjectNode row(SpecializedGetters fields, StructType type) {
    ObjectNode found = NODES.objectNode();
    for (int i = 0; i < type.size(); i++) {
      found.set(type.fields()[i].name(), of(fields, i, type.fields()[i].dataType()));
    }
    return found;
  }
}
