package io.streamtable.codec.protobuf;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.MapEntry;
import com.google.protobuf.Message;
import io.streamtable.codec.EncodeException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;

/**
 * Builds messages of one type from rows, as Flink does: a null column is absent, the last column of
 * a oneof wins, and an unknown symbol becomes the first one of its enum.
 */
final class ProtoMessageWriter {
  private final Descriptor message;
  private final String nullLiteral;
  private final List<FieldDescriptor> fields = new ArrayList<>();
  private final List<Getter> getters = new ArrayList<>();

  /** Returns a present value as protobuf's value of the field. */
  private interface Getter {
    Object get(SpecializedGetters from, int position);
  }

  ProtoMessageWriter(Descriptor message, StructType columns, String nullLiteral) {
    this.message = message;
    this.nullLiteral = nullLiteral;
    for (int i = 0; i < columns.size(); i++) {
      FieldDescriptor field = ProtoTypes.field(message, columns.apply(i).name());
      fields.add(field);
      getters.add(getter(field, columns.apply(i).dataType()));
    }
  }

  Message message(InternalRow row) {
    DynamicMessage.Builder built = DynamicMessage.newBuilder(message);
    for (int i = 0; i < fields.size(); i++) {
      if (!row.isNullAt(i)) {
        built.setField(fields.get(i), getters.get(i).get(row, i));
      }
    }
    if (!built.isInitialized()) {
      throw EncodeException.unwritable(
          "message '" + message.getFullName() + "' lacks a value for its required fields "
              + String.join(", ", built.findInitializationErrors()));
    }
    return built.build();
  }

  private Getter getter(FieldDescriptor field, DataType type) {
    if (field.isMapField()) {
      return map(field.getMessageType(), ProtoTypes.as(MapType.class, field, type));
    }
    if (!field.isRepeated()) {
      return value(field, type);
    }
    Getter element = value(field, ProtoTypes.as(ArrayType.class, field, type).elementType());
    return (from, i) -> {
      ArrayData array = from.getArray(i);
      List<Object> values = new ArrayList<>(array.numElements());
      for (int at = 0; at < array.numElements(); at++) {
        values.add(array.isNullAt(at) ? replacement(field) : element.get(array, at));
      }
      return values;
    };
  }

  private Getter value(FieldDescriptor field, DataType type) {
    if (ProtoTypes.isTimestamp(field, type)) {
      return (from, i) -> timestamp(field.getMessageType(), from.getLong(i));
    }
    if (field.getJavaType() == JavaType.MESSAGE) {
      StructType row = ProtoTypes.as(StructType.class, field, type);
      ProtoMessageWriter inner = new ProtoMessageWriter(field.getMessageType(), row, nullLiteral);
      return (from, i) -> inner.message(from.getStruct(i, row.size()));
    }
    ProtoTypes.checkScalar(field, type);
    return switch (field.getJavaType()) {
      case INT -> SpecializedGetters::getInt;
      case LONG -> SpecializedGetters::getLong;
      case FLOAT -> SpecializedGetters::getFloat;
      case DOUBLE -> SpecializedGetters::getDouble;
      case BOOLEAN -> SpecializedGetters::getBoolean;
      case STRING -> (from, i) -> from.getUTF8String(i).toString();
      case BYTE_STRING -> (from, i) -> ByteString.copyFrom(from.getBinary(i));
      case ENUM -> symbol(field.getEnumType(), type instanceof IntegerType);
      case MESSAGE -> throw new IllegalStateException("handled above");
    };
  }

  private static Getter symbol(EnumDescriptor type, boolean byNumber) {
    EnumValueDescriptor first = type.getValues().get(0);
    return (from, i) -> {
      EnumValueDescriptor found =
          byNumber
              ? type.findValueByNumber(from.getInt(i))
              : type.findValueByName(from.getUTF8String(i).toString());
      return found == null ? first : found;
    };
  }

  private static Message timestamp(Descriptor type, long micros) {
    long seconds = Math.floorDiv(micros, 1_000_000L);
    int nanos = (int) (micros - seconds * 1_000_000L) * 1_000;
    return DynamicMessage.newBuilder(type)
        .setField(type.findFieldByNumber(1), seconds)
        .setField(type.findFieldByNumber(2), nanos)
        .build();
  }

  /**
   * Writes entries in the order of a HashMap, as Flink does. The HashMap is filled in sorted order,
   * so that equal maps give equal bytes regardless of Spark's order; keys of a compacted topic
   * require this.
   */
  private Getter map(Descriptor entry, MapType type) {
    FieldDescriptor keyField = entry.findFieldByNumber(1);
    FieldDescriptor valueField = entry.findFieldByNumber(2);
    Getter key = value(keyField, type.keyType());
    Getter value = value(valueField, type.valueType());
    MapEntry<Object, Object> none = MapEntry.newDefaultInstance(
        entry, keyField.getLiteType(), stored(replacement(keyField)), valueField.getLiteType(), stored(replacement(valueField)));
    return (from, i) -> {
      ArrayData keys = from.getMap(i).keyArray();
      ArrayData values = from.getMap(i).valueArray();
      Map<Object, Object> sorted = new TreeMap<>();
      for (int at = 0; at < keys.numElements(); at++) {
        sorted.put(
            keys.isNullAt(at) ? replacement(keyField) : key.get(keys, at),
            stored(values.isNullAt(at) ? replacement(valueField) : value.get(values, at)));
      }
      List<Object> entries = new ArrayList<>();
      new HashMap<>(sorted).forEach(
          (k, v) -> entries.add(none.newBuilderForType().setKey(k).setValue(v).build()));
      return entries;
    };
  }

  /** Returns a map's value as MapEntry keeps it: enums by number. */
  private static Object stored(Object value) {
    return value instanceof EnumValueDescriptor symbol ? (Object) symbol.getNumber() : value;
  }

  /** Returns the value that replaces a null in an array or map, which protobuf cannot represent. */
  private Object replacement(FieldDescriptor field) {
    return switch (field.getJavaType()) {
      case INT -> 0;
      case LONG -> 0L;
      case FLOAT -> 0f;
      case DOUBLE -> 0d;
      case BOOLEAN -> false;
      case STRING -> nullLiteral;
      case BYTE_STRING -> ByteString.EMPTY;
      case ENUM -> field.getEnumType().getValues().get(0);
      case MESSAGE -> DynamicMessage.getDefaultInstance(field.getMessageType());
    };
  }
}
