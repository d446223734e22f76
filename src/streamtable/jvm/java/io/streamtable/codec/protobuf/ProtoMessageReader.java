package io.streamtable.codec.protobuf;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import io.streamtable.codec.DecodeException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;

/**
 * Reads the fields of one message type that are columns, straight from the bytes, by the rules of
 * protobuf's parsers: the last value of a field counts, messages merge, repeated fields may be
 * packed or not, and a member of a oneof replaces the others.
 */
final class ProtoMessageReader {
  private static final int MAX_DEPTH = 100;
  private static final int LOW_TAGS = 256;

  /** Which absent fields have their default values. */
  record Defaults(Predicate<FieldDescriptor> ofScalars, boolean ofOthers) {}

  /** Reads a field into the slots of its message. */
  private interface FieldReader {
    void read(CodedInputStream in, Object[] slots, int depth) throws IOException, DecodeException;
  }

  /** Turns what was read of a field, or null, into the column's value. */
  private interface Finisher {
    Object finish(Object slot) throws DecodeException;
  }

  private final Defaults defaults;
  private final String[] names;
  private final Finisher[] finishers;
  private final Map<Integer, FieldReader> byTag = new HashMap<>();
  /** The readers of low tags, to look them up without boxing. */
  private final FieldReader[] lowTags = new FieldReader[LOW_TAGS];

  ProtoMessageReader(Descriptor message, StructType columns, Defaults defaults) {
    this.defaults = defaults;
    names = columns.fieldNames();
    finishers = new Finisher[names.length];
    for (int i = 0; i < names.length; i++) {
      add(ProtoTypes.field(message, names[i]), i, columns.apply(i).dataType());
    }
    message.getRealOneofs().forEach(oneof -> exclude(oneof, List.of(names)));
    for (int tag = 0; tag < LOW_TAGS; tag++) {
      lowTags[tag] = byTag.get(tag);
    }
  }

  /** Reads a whole message. */
  GenericInternalRow row(CodedInputStream in, int depth) throws IOException, DecodeException {
    Object[] slots = new Object[names.length];
    read(in, slots, 0, depth);
    return finish(slots);
  }

  private void read(CodedInputStream in, Object[] slots, int end, int depth)
      throws IOException, DecodeException {
    if (depth > MAX_DEPTH) {
      throw new DecodeException("messages nested more than " + MAX_DEPTH + " deep");
    }
    while (true) {
      int tag = in.readTag();
      if (tag == end) {
        return;
      }
      FieldReader reader = tag >= 0 && tag < LOW_TAGS ? lowTags[tag] : byTag.get(tag);
      if (reader != null) {
        reader.read(in, slots, depth);
      } else if (tag == 0 || !in.skipField(tag)) {
        throw new DecodeException("the record ends too early, or a group ends that did not begin");
      }
    }
  }

  GenericInternalRow finish(Object[] slots) throws DecodeException {
    for (int i = 0; i < slots.length; i++) {
      try {
        slots[i] = finishers[i].finish(slots[i]);
      } catch (DecodeException e) {
        throw e.in(names[i]);
      }
    }
    return new GenericInternalRow(slots);
  }

  private void add(FieldDescriptor field, int i, DataType type) {
    if (field.isMapField()) {
      addMap(field, i, ProtoTypes.as(MapType.class, field, type));
    } else if (field.isRepeated()) {
      addRepeated(field, i, ProtoTypes.as(ArrayType.class, field, type).elementType());
    } else if (field.getJavaType() == JavaType.MESSAGE) {
      addMessage(field, i, type);
    } else {
      ProtoScalars.Scalar scalar = ProtoScalars.of(field, type);
      put(field, false, i, (in, slots, depth) -> {
        Object value = scalar.read(in);
        slots[i] = value == null ? slots[i] : value;
      });
      Object absent = defaults.ofScalars.test(field) ? ProtoScalars.defaultValue(field, type) : null;
      finishers[i] = slot -> slot == null ? absent : slot;
    }
  }

  private void addMessage(FieldDescriptor field, int i, DataType type) {
    boolean isTimestamp = ProtoTypes.isTimestamp(field, type);
    ProtoMessageReader inner = inner(field, type);
    put(field, false, i, (in, slots, depth) -> {
      if (slots[i] == null) {
        slots[i] = new Object[inner.names.length];
      }
      inner.delimited(field, in, (Object[]) slots[i], depth);
    });
    finishers[i] = slot -> {
      if (slot == null && !defaults.ofOthers) {
        return null;
      }
      Object[] read = slot == null ? new Object[inner.names.length] : (Object[]) slot;
      GenericInternalRow row = inner.finish(read);
      return isTimestamp ? micros(row) : row;
    };
  }

  private ProtoMessageReader inner(FieldDescriptor field, DataType type) {
    if (ProtoTypes.isTimestamp(field, type)) {
      Defaults all = new Defaults(any -> true, true);
      return new ProtoMessageReader(field.getMessageType(), ProtoTypes.TIMESTAMP_FIELDS, all);
    }
    StructType row = ProtoTypes.as(StructType.class, field, type);
    return new ProtoMessageReader(field.getMessageType(), row, defaults);
  }

  private static Long micros(GenericInternalRow row) throws DecodeException {
    try {
      long whole = Math.multiplyExact(row.getLong(0), 1_000_000L);
      return Math.addExact(whole, Math.floorDiv(row.getInt(1), 1_000));
    } catch (ArithmeticException e) {
      throw new DecodeException(row.getLong(0) + " seconds are not a valid TIMESTAMP");
    }
  }

  /** Reads an embedded message or a group into slots. */
  private void delimited(FieldDescriptor field, CodedInputStream in, Object[] slots, int depth)
      throws IOException, DecodeException {
    if (field.getType() == FieldDescriptor.Type.GROUP) {
      read(in, slots, (field.getNumber() << 3) | WireFormat.WIRETYPE_END_GROUP, depth + 1);
      return;
    }
    int limit = in.pushLimit(in.readRawVarint32());
    read(in, slots, 0, depth + 1);
    in.popLimit(limit);
  }

  /** Reads one element of an array, or a key or value of a map. */
  private interface Element {
    Object read(CodedInputStream in, int depth) throws IOException, DecodeException;
  }

  /** Returns the value that an entry of a map leaves out. */
  private Object absent(FieldDescriptor field, DataType type) {
    if (field.getJavaType() != JavaType.MESSAGE) {
      return ProtoScalars.defaultValue(field, type);
    }
    ProtoMessageReader inner = inner(field, type);
    try {
      GenericInternalRow row = inner.finish(new Object[inner.names.length]);
      return ProtoTypes.isTimestamp(field, type) ? micros(row) : row;
    } catch (DecodeException e) {
      throw new IllegalStateException(e); // default values are valid
    }
  }

  private Element element(FieldDescriptor field, DataType type) {
    if (field.getJavaType() != JavaType.MESSAGE) {
      ProtoScalars.Scalar scalar = ProtoScalars.of(field, type);
      return (in, depth) -> scalar.read(in);
    }
    boolean isTimestamp = ProtoTypes.isTimestamp(field, type);
    ProtoMessageReader inner = inner(field, type);
    return (in, depth) -> {
      Object[] slots = new Object[inner.names.length];
      inner.delimited(field, in, slots, depth);
      GenericInternalRow row = inner.finish(slots);
      return isTimestamp ? micros(row) : row;
    };
  }

  @SuppressWarnings("unchecked")
  private void addRepeated(FieldDescriptor field, int i, DataType type) {
    Element element = element(field, type);
    FieldReader one = (in, slots, depth) -> {
      List<Object> list = (List<Object>) slots[i];
      if (list == null) {
        list = new ArrayList<>();
        slots[i] = list;
      }
      Object value = element.read(in, depth);
      if (value != null) {
        list.add(value);
      }
    };
    put(field, false, i, one);
    if (field.isPackable()) {
      put(field, true, i, (in, slots, depth) -> {
        int limit = in.pushLimit(in.readRawVarint32());
        while (in.getBytesUntilLimit() > 0) {
          one.read(in, slots, depth);
        }
        in.popLimit(limit);
      });
    }
    finishers[i] = slot -> {
      List<Object> list = (List<Object>) slot;
      if (list == null || list.isEmpty()) {
        return defaults.ofOthers ? new GenericArrayData(new Object[0]) : null;
      }
      return new GenericArrayData(list.toArray());
    };
  }

  @SuppressWarnings("unchecked")
  private void addMap(FieldDescriptor field, int i, MapType type) {
    FieldDescriptor keyField = field.getMessageType().findFieldByNumber(1);
    FieldDescriptor valueField = field.getMessageType().findFieldByNumber(2);
    Element key = element(keyField, type.keyType());
    Element value = element(valueField, type.valueType());
    Object noKey = absent(keyField, type.keyType());
    Object noValue = absent(valueField, type.valueType());
    int keyTag = tag(keyField, false);
    int valueTag = tag(valueField, false);
    put(field, false, i, (in, slots, depth) -> {
      int limit = in.pushLimit(in.readRawVarint32());
      Object foundKey = noKey;
      Object foundValue = noValue;
      for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
        if (tag == keyTag) {
          foundKey = key.read(in, depth + 1);
        } else if (tag == valueTag) {
          foundValue = value.read(in, depth + 1);
        } else if (!in.skipField(tag)) {
          throw new DecodeException("a group ends that did not begin");
        }
      }
      in.popLimit(limit);
      if (slots[i] == null) {
        slots[i] = new LinkedHashMap<Object, Object>();
      }
      if (foundValue != null) { // null: an unknown symbol of proto2
        ((Map<Object, Object>) slots[i]).put(foundKey, foundValue);
      }
    });
    finishers[i] = slot -> {
      Map<Object, Object> entries = (Map<Object, Object>) slot;
      if (entries == null) {
        return defaults.ofOthers ? map(Map.of()) : null;
      }
      return map(entries);
    };
  }

  private static ArrayBasedMapData map(Map<Object, Object> entries) {
    return new ArrayBasedMapData(
        new GenericArrayData(entries.keySet().toArray()),
        new GenericArrayData(entries.values().toArray()));
  }

  private void put(FieldDescriptor field, boolean isPacked, int column, FieldReader reader) {
    byTag.put(tag(field, isPacked), (in, slots, depth) -> {
      try {
        reader.read(in, slots, depth);
      } catch (DecodeException e) {
        throw e.in(names[column]);
      } catch (InvalidProtocolBufferException e) {
        throw new DecodeException(e.getMessage()).in(names[column]);
      }
    });
  }

  private static int tag(FieldDescriptor field, boolean isPacked) {
    int wire = isPacked ? WireFormat.WIRETYPE_LENGTH_DELIMITED : field.getLiteType().getWireType();
    return (field.getNumber() << 3) | wire;
  }

  /** Makes each member of a oneof clear the columns of the others. */
  private void exclude(OneofDescriptor oneof, List<String> columns) {
    int[] members =
        oneof.getFields().stream().mapToInt(f -> columns.indexOf(f.getName())).filter(i -> i >= 0).toArray();
    for (FieldDescriptor field : oneof.getFields()) {
      FieldReader reader = members.length == 0 ? null : byTag.get(tag(field, false));
      int own = columns.indexOf(field.getName());
      if (members.length > (own < 0 ? 0 : 1)) {
        int tag = tag(field, false);
        byTag.put(tag, (in, slots, depth) -> {
          for (int other : members) {
            slots[other] = other == own ? slots[other] : null;
          }
          if (reader != null) {
            reader.read(in, slots, depth);
          } else {
            in.skipField(tag);
          }
        });
      }
    }
  }
}
