package io.streamtable.python;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.razorvine.pickle.Pickler;
import net.razorvine.pickle.Unpickler;
import org.apache.spark.sql.catalyst.CatalystTypeConverters;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.execution.python.EvaluatePython;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Converts values of one type between rows and pickled Python objects.
 *
 * <p>Python gets and gives Spark's internal values, such as days of a DATE and microseconds of a
 * TIMESTAMP; PySpark's types convert them there.
 */
public final class PythonValues implements Serializable {
  private final DataType type;
  private transient scala.Function1<Object, Object> toInternal;
  private transient scala.Function1<Object, Object> fromPython;
  private transient scala.Function1<Object, Object> fromInternal;

  public PythonValues(DataType type) {
    this.type = type;
  }

  /** Returns a value of a row as an object that can be pickled. */
  public Object plain(Object value) {
    if (toInternal == null) {
      toInternal = CatalystTypeConverters.createToCatalystConverter(type);
    }
    return plain(toInternal.apply(value), type);
  }

  private static Object plain(Object value, DataType type) {
    if (value instanceof UTF8String text) {
      return text.toString();
    }
    if (value instanceof Decimal number) {
      return number.toJavaBigDecimal();
    }
    if (value instanceof InternalRow row) {
      StructType fields = (StructType) type;
      Object[] values = new Object[fields.length()];
      for (int i = 0; i < values.length; i++) {
        DataType field = fields.apply(i).dataType();
        values[i] = row.isNullAt(i) ? null : plain(row.get(i, field), field);
      }
      return values;
    }
    if (value instanceof ArrayData array) {
      return list(array, ((ArrayType) type).elementType());
    }
    if (value instanceof MapData map) {
      MapType entries = (MapType) type;
      List<Object> keys = list(map.keyArray(), entries.keyType());
      List<Object> values = list(map.valueArray(), entries.valueType());
      Map<Object, Object> plain = new HashMap<>();
      for (int i = 0; i < keys.size(); i++) {
        plain.put(keys.get(i), values.get(i));
      }
      return plain;
    }
    return value;
  }

  private static List<Object> list(ArrayData array, DataType element) {
    List<Object> items = new ArrayList<>(array.numElements());
    for (int i = 0; i < array.numElements(); i++) {
      items.add(array.isNullAt(i) ? null : plain(array.get(i, element), element));
    }
    return items;
  }

  /** Returns the value of a row from a pickled object. */
  public Object unpickled(byte[] pickled) {
    if (fromPython == null) {
      fromPython = EvaluatePython.makeFromJava(type);
      fromInternal = CatalystTypeConverters.createToScalaConverter(type);
    }
    try {
      return fromInternal.apply(fromPython.apply(new Unpickler().loads(pickled)));
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Returns the pickled form of an object. */
  public static byte[] pickled(Object plain) {
    try {
      return new Pickler(false).dumps(plain);
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
