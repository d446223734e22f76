package io.streamtable.codec.avro;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Texts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;

/**
 * Creates readers of records that were written with one schema, for columns with another: Avro's
 * schema resolution. Fields are matched by name, unused fields are skipped, and missing fields take
 * the default of the columns' schema. If two schemas do not resolve, the record has an error.
 */
final class AvroResolver {
  private AvroResolver() {}

  /**
   * Returns a reader of whole records.
   *
   * @param type the columns to read: by name some or all of the fields of {@code reader}
   * @param reader the schema of the columns
   * @param writer the schema that the record was written with
   */
  static AvroReader row(StructType type, Schema reader, Schema writer) throws DecodeException {
    return of(type, reader, reader == writer ? writer : Schema.applyAliases(writer, reader));
  }

  private static AvroReader of(DataType type, Schema reader, Schema writer)
      throws DecodeException {
    switch (writer.getType()) {
      case UNION:
        return union(type, reader, writer);
      case NULL:
        if (present(reader).getType() != Schema.Type.NULL && !reader.isNullable()) {
          throw new DecodeException("null, where the column is NOT NULL");
        }
        return in -> null;
      default:
        return value(type, present(reader), writer);
    }
  }

  /**
   * Returns the non-null part of a column's schema; such a schema is a type, or null and a type.
   */
  private static Schema present(Schema reader) {
    if (reader.getType() != Schema.Type.UNION) {
      return reader;
    }
    Schema first = reader.getTypes().get(0);
    boolean isLast = reader.getTypes().size() == 1 || first.getType() != Schema.Type.NULL;
    return isLast ? first : reader.getTypes().get(1);
  }

  /** Reads a union. A branch that does not resolve is an error only in records that use it. */
  private static AvroReader union(DataType type, Schema reader, Schema writer) {
    AvroReader[] branches = new AvroReader[writer.getTypes().size()];
    for (int i = 0; i < branches.length; i++) {
      try {
        branches[i] = of(type, reader, writer.getTypes().get(i));
      } catch (DecodeException e) {
        branches[i] =
            in -> {
              throw e;
            };
      }
    }
    return in -> branches[in.readBranch(branches.length)].read(in);
  }

  private static AvroReader value(DataType type, Schema reader, Schema writer)
      throws DecodeException {
    if (reader.getType() == writer.getType()) {
      switch (reader.getType()) {
        case RECORD:
          return record((StructType) type, reader, writer);
        case ARRAY:
          DataType element = ((ArrayType) type).elementType();
          return AvroReaders.array(of(element, reader.getElementType(), writer.getElementType()));
        case MAP:
          DataType mapped = ((MapType) type).valueType();
          return AvroReaders.map(of(mapped, reader.getValueType(), writer.getValueType()));
        default:
      }
    }
    AvroReader found = AvroReaders.scalar(type, reader, writer);
    if (found == null) {
      String written = writer.getType().getName();
      throw new DecodeException("written as " + written + ", which is no " + Texts.name(type));
    }
    return found;
  }

  private static AvroReader record(StructType type, Schema reader, Schema writer)
      throws DecodeException {
    Map<String, Integer> positions = new HashMap<>();
    String[] names = type.fieldNames();
    Object[] defaults = new Object[names.length];
    for (int i = 0; i < names.length; i++) {
      positions.put(names[i], i);
      if (writer.getField(names[i]) == null) {
        defaults[i] = defaultOf(type.apply(i).dataType(), reader.getField(names[i]));
      }
    }
    int size = writer.getFields().size();
    int[] targets = new int[size];
    AvroReader[] readers = new AvroReader[size];
    for (int i = 0; i < size; i++) {
      Schema.Field field = writer.getFields().get(i);
      targets[i] = positions.getOrDefault(field.name(), -1);
      readers[i] =
          targets[i] < 0
              ? AvroSkipper.of(field.schema())
              : field(type.apply(targets[i]).dataType(), reader, field);
    }
    return in -> {
      Object[] values = defaults.clone();
      for (int i = 0; i < readers.length; i++) {
        try {
          Object value = readers[i].read(in);
          if (targets[i] >= 0) {
            values[targets[i]] = value;
          }
        } catch (DecodeException e) {
          throw e.in(writer.getFields().get(i).name());
        }
      }
      return new GenericInternalRow(values);
    };
  }

  private static AvroReader field(DataType type, Schema reader, Schema.Field written)
      throws DecodeException {
    try {
      return of(type, reader.getField(written.name()).schema(), written.schema());
    } catch (DecodeException e) {
      throw e.in(written.name());
    }
  }

  private static Object defaultOf(DataType type, Schema.Field field) throws DecodeException {
    if (!field.hasDefaultValue()) {
      throw new DecodeException("not in the writer's schema, and NOT NULL").in(field.name());
    }
    Schema schema = field.schema();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder out = EncoderFactory.get().binaryEncoder(bytes, null);
    try {
      new GenericDatumWriter<>(schema).write(GenericData.get().getDefaultValue(field), out);
      out.flush();
    } catch (AvroRuntimeException e) { // the schema is from a registry, which did not check it
      throw new DecodeException("not in the writer's schema, and its default is not valid")
          .in(field.name());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return of(type, schema, schema).read(new AvroInput(bytes.toByteArray()));
  }
}
