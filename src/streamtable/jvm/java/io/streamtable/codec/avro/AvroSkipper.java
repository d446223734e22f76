package io.streamtable.codec.avro;

import io.streamtable.codec.DecodeException;
import java.util.IdentityHashMap;
import java.util.Map;
import org.apache.avro.Schema;

/** Creates readers that skip a value. The writer's schema may be recursive. */
final class AvroSkipper {
  private final Map<Schema, AvroReader[]> records = new IdentityHashMap<>();

  private AvroSkipper() {}

  static AvroReader of(Schema schema) {
    return new AvroSkipper().skip(schema);
  }

  private AvroReader skip(Schema schema) {
    return switch (schema.getType()) {
      case NULL -> in -> null;
      case BOOLEAN -> AvroInput::readBoolean;
      case INT, LONG, ENUM -> AvroInput::readLong;
      case FLOAT -> AvroInput::readFloat;
      case DOUBLE -> AvroInput::readDouble;
      case FIXED -> fixed(schema.getFixedSize());
      case BYTES, STRING -> AvroSkipper::bytes;
      case ARRAY -> blocks(in -> null, skip(schema.getElementType()));
      case MAP -> blocks(AvroSkipper::bytes, skip(schema.getValueType()));
      case UNION -> union(all(schema.getTypes().toArray(Schema[]::new)));
      case RECORD -> record(schema);
    };
  }

  private AvroReader[] all(Schema[] schemas) {
    AvroReader[] skips = new AvroReader[schemas.length];
    for (int i = 0; i < schemas.length; i++) {
      skips[i] = skip(schemas[i]);
    }
    return skips;
  }

  private AvroReader record(Schema schema) {
    AvroReader[] fields = records.get(schema);
    if (fields == null) {
      fields = new AvroReader[schema.getFields().size()];
      records.put(schema, fields); // before it is filled: a field may have this same schema
      for (int i = 0; i < fields.length; i++) {
        fields[i] = skip(schema.getFields().get(i).schema());
      }
    }
    AvroReader[] skips = fields;
    return in -> {
      in.enter();
      for (AvroReader field : skips) {
        field.read(in);
      }
      in.leave();
      return null;
    };
  }

  private static Object bytes(AvroInput in) throws DecodeException {
    in.skipBytes();
    return null;
  }

  private static AvroReader fixed(int size) {
    return in -> {
      in.skip(size);
      return null;
    };
  }

  private static AvroReader union(AvroReader[] branches) {
    return in -> branches[in.readBranch(branches.length)].read(in);
  }

  private static AvroReader blocks(AvroReader key, AvroReader value) {
    return in -> {
      for (int left = in.readBlock(); left > 0; left = in.readBlock()) {
        for (; left > 0; left--) {
          key.read(in);
          value.read(in);
        }
      }
      return null;
    };
  }
}
