package io.streamtable.codec.protobuf;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.streamtable.codec.DecodeException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.unsafe.types.UTF8String;

/** Creates readers of scalar fields and of their default values. */
final class ProtoScalars {
  private static final UTF8String UNRECOGNIZED = UTF8String.fromString("UNRECOGNIZED");

  private ProtoScalars() {}

  /** Reads a value without its tag; null if an enum of proto2 does not have the number. */
  interface Scalar {
    Object read(CodedInputStream in) throws IOException, DecodeException;
  }

  static Scalar of(FieldDescriptor field, DataType type) {
    ProtoTypes.checkScalar(field, type);
    return switch (field.getType()) {
      case INT32 -> CodedInputStream::readInt32;
      case UINT32 -> CodedInputStream::readUInt32;
      case SINT32 -> CodedInputStream::readSInt32;
      case FIXED32 -> CodedInputStream::readFixed32;
      case SFIXED32 -> CodedInputStream::readSFixed32;
      case INT64 -> CodedInputStream::readInt64;
      case UINT64 -> CodedInputStream::readUInt64;
      case SINT64 -> CodedInputStream::readSInt64;
      case FIXED64 -> CodedInputStream::readFixed64;
      case SFIXED64 -> CodedInputStream::readSFixed64;
      case FLOAT -> CodedInputStream::readFloat;
      case DOUBLE -> CodedInputStream::readDouble;
      case BOOL -> CodedInputStream::readBool;
      case BYTES -> CodedInputStream::readByteArray;
      case STRING -> text(isProto3(field));
      case ENUM -> symbol(field, type);
      default -> throw new IllegalStateException("no scalar: " + field.getType());
    };
  }

  static boolean isProto3(FieldDescriptor field) {
    return field.getFile().toProto().getSyntax().equals("proto3");
  }

  /** Returns the default value of an absent field as Spark's value. */
  static Object defaultValue(FieldDescriptor field, DataType type) {
    Object value = field.getDefaultValue();
    if (value instanceof EnumValueDescriptor symbol) {
      return type instanceof StringType
          ? UTF8String.fromString(symbol.getName())
          : (Object) symbol.getNumber();
    }
    if (value instanceof ByteString bytes) {
      return bytes.toByteArray();
    }
    return value instanceof String text ? UTF8String.fromString(text) : value;
  }

  private static Scalar text(boolean isProto3) {
    return in -> {
      byte[] bytes = in.readByteArray();
      UTF8String text = UTF8String.fromBytes(bytes);
      if (text.isValid()) {
        return text;
      }
      if (isProto3) {
        throw new DecodeException("the text is not UTF-8");
      }
      return UTF8String.fromString(new String(bytes, StandardCharsets.UTF_8));
    };
  }

  /** Reads an enum. An unknown number of proto3 has Flink's name, or the number itself. */
  private static Scalar symbol(FieldDescriptor field, DataType type) {
    boolean isText = type instanceof StringType;
    Map<Integer, Object> known = new HashMap<>();
    for (EnumValueDescriptor value : field.getEnumType().getValues()) {
      Object symbol = isText ? UTF8String.fromString(value.getName()) : (Object) value.getNumber();
      known.putIfAbsent(value.getNumber(), symbol);
    }
    boolean isClosed = field.getEnumType().isClosed();
    return in -> {
      int number = in.readEnum();
      Object symbol = known.get(number);
      if (symbol != null || isClosed) {
        return symbol;
      }
      return isText ? UNRECOGNIZED : (Object) number;
    };
  }
}
