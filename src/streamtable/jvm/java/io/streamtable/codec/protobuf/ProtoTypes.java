package io.streamtable.codec.protobuf;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.streamtable.codec.SchemaFault;
import io.streamtable.codec.Texts;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/** Matches columns with fields, as Flink's PbSchemaValidationUtils does. */
final class ProtoTypes {
  /** The fields of google.protobuf.Timestamp as columns. */
  static final StructType TIMESTAMP_FIELDS =
      new StructType().add("seconds", DataTypes.LongType).add("nanos", DataTypes.IntegerType);

  private ProtoTypes() {}

  /** Returns the field of a column. Throws a SchemaFault if there is none. */
  static FieldDescriptor field(Descriptor message, String column) {
    FieldDescriptor field = message.findFieldByName(column);
    if (field == null) {
      throw new SchemaFault(
          "message '" + message.getFullName() + "' has no field '" + column + "'");
    }
    return field;
  }

  /** Returns whether a timestamp column reads a google.protobuf.Timestamp. */
  static boolean isTimestamp(FieldDescriptor field, DataType type) {
    return (type instanceof TimestampType || type instanceof TimestampNTZType)
        && field.getJavaType() == JavaType.MESSAGE
        && field.getMessageType().getFullName().equals("google.protobuf.Timestamp");
  }

  /** Returns the type as the wanted class, or throws for a type that does not match the field. */
  static <T extends DataType> T as(Class<T> wanted, FieldDescriptor field, DataType type) {
    if (!wanted.isInstance(type)) {
      throw mismatch(field, type);
    }
    return wanted.cast(type);
  }

  /** Throws a SchemaFault if a scalar field does not match the type. */
  static void checkScalar(FieldDescriptor field, DataType type) {
    boolean matches =
        switch (field.getJavaType()) {
          case INT -> type.equals(DataTypes.IntegerType);
          case LONG -> type.equals(DataTypes.LongType);
          case FLOAT -> type.equals(DataTypes.FloatType);
          case DOUBLE -> type.equals(DataTypes.DoubleType);
          case BOOLEAN -> type.equals(DataTypes.BooleanType);
          case STRING -> type instanceof StringType;
          case BYTE_STRING -> type.equals(DataTypes.BinaryType);
          case ENUM -> type instanceof StringType || type.equals(DataTypes.IntegerType);
          case MESSAGE -> false;
        };
    if (!matches) {
      throw mismatch(field, type);
    }
  }

  private static SchemaFault mismatch(FieldDescriptor field, DataType type) {
    String name = field.getType().name().toLowerCase(java.util.Locale.ROOT);
    String kind = field.isMapField() ? "map" : (field.isRepeated() ? "repeated " : "") + name;
    return new SchemaFault(
        "field '" + field.getFullName() + "' is " + kind + ", which is no " + Texts.name(type));
  }
}
