package io.streamtable.userfunctions;

import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Period;
import java.util.Collection;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.IntervalUtils;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.unsafe.types.UTF8String;

/** Converts the Java objects that a function returns to Spark's internal values. */
final class InternalValues {
  private final ExternalValues external;

  InternalValues(ExternalValues external) {
    this.external = external;
  }

  /** Converts a value to its type; a decimal with too many digits becomes null, as in Flink. */
  Object of(Object value, DataType type) throws Throwable {
    if (value == null) {
      return null;
    }
    if (type instanceof StructType struct) {
      return row(value, struct);
    }
    if (type instanceof ArrayType array) {
      return array(value, array.elementType());
    }
    if (type instanceof MapType map) {
      return map((Map<?, ?>) value, map);
    }
    if (value instanceof String text) {
      return UTF8String.fromString(text);
    }
    if (value instanceof BigDecimal number) {
      return decimal(number, (DecimalType) type);
    }
    return time(value, type);
  }

  private static Object time(Object value, DataType type) {
    if (value instanceof LocalDateTime time) {
      return DateTimeUtils.localDateTimeToMicros(time);
    }
    if (value instanceof Instant time) {
      return DateTimeUtils.instantToMicros(time);
    }
    if (value instanceof java.sql.Timestamp time) {
      return type instanceof TimestampNTZType
          ? DateTimeUtils.localDateTimeToMicros(time.toLocalDateTime())
          : DateTimeUtils.instantToMicros(time.toInstant());
    }
    if (value instanceof LocalDate date) {
      return (int) date.toEpochDay();
    }
    if (value instanceof java.sql.Date date) {
      return (int) date.toLocalDate().toEpochDay();
    }
    if (value instanceof LocalTime time) {
      return time.toNanoOfDay() / 1000 * 1000; // Spark keeps six digits of a second
    }
    if (value instanceof java.sql.Time time) {
      return time.toLocalTime().toNanoOfDay();
    }
    if (value instanceof Duration duration) {
      return IntervalUtils.durationToMicros(duration);
    }
    return value instanceof Period period ? (Object) (int) period.toTotalMonths() : value;
  }

  private static Decimal decimal(BigDecimal value, DecimalType type) {
    BigDecimal rounded = value.setScale(type.scale(), RoundingMode.HALF_UP);
    return rounded.precision() > type.precision()
        ? null
        : Decimal.apply(rounded, type.precision(), type.scale());
  }

  private GenericInternalRow row(Object value, StructType type) throws Throwable {
    Object[] values = external.rows().values(value, type.fieldNames());
    Object[] found = new Object[values.length];
    for (int i = 0; i < found.length; i++) {
      found[i] = of(values[i], type.apply(i).dataType());
    }
    return new GenericInternalRow(found);
  }

  private GenericArrayData array(Object value, DataType element) throws Throwable {
    Object given = value instanceof Collection<?> list ? list.toArray() : value;
    Object[] found = new Object[Array.getLength(given)];
    for (int i = 0; i < found.length; i++) {
      found[i] = of(Array.get(given, i), element);
    }
    return new GenericArrayData(found);
  }

  private ArrayBasedMapData map(Map<?, ?> value, MapType type) throws Throwable {
    Object[] keys = new Object[value.size()];
    Object[] values = new Object[value.size()];
    int i = 0;
    for (Map.Entry<?, ?> entry : value.entrySet()) {
      keys[i] = of(entry.getKey(), type.keyType());
      values[i++] = of(entry.getValue(), type.valueType());
    }
    return new ArrayBasedMapData(new GenericArrayData(keys), new GenericArrayData(values));
  }
}
