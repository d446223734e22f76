package io.streamtable.jdbc;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.unsafe.types.UTF8String;

/** Reads rows of a result as Spark's values, by the declared types of the columns. */
final class ResultColumns {
  private static final DateTimeFormatter DATE_TIME =
      new DateTimeFormatterBuilder()
          .append(DateTimeFormatter.ISO_LOCAL_DATE)
          .appendPattern("[ ]['T']HH:mm[:ss]")
          .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
          .toFormatter();

  private final Dialect dialect;
  private final DataType[] types;

  ResultColumns(Dialect dialect, StructType schema) {
    this.dialect = dialect;
    StructField[] fields = schema.fields();
    types = new DataType[fields.length];
    for (int i = 0; i < fields.length; i++) {
      types[i] = fields[i].dataType();
    }
  }

  /** Returns the current row. */
  InternalRow row(ResultSet rows) throws SQLException {
    Object[] values = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      Object value = value(rows, i + 1, types[i]);
      values[i] = rows.wasNull() ? null : value;
    }
    return new GenericInternalRow(values);
  }

  private Object value(ResultSet rows, int at, DataType type) throws SQLException {
    if (type instanceof StringType) {
      return UTF8String.fromString(rows.getString(at));
    } else if (type instanceof LongType) {
      return rows.getLong(at);
    } else if (type instanceof IntegerType) {
      return rows.getInt(at);
    } else if (type instanceof DecimalType decimal) {
      return decimal(rows.getBigDecimal(at), decimal);
    } else if (type instanceof DoubleType) {
      return rows.getDouble(at);
    } else if (type instanceof BooleanType) {
      return rows.getBoolean(at);
    } else if (type instanceof ShortType) {
      return rows.getShort(at);
    } else if (type instanceof ByteType) {
      return rows.getByte(at);
    } else if (type instanceof FloatType) {
      return rows.getFloat(at);
    } else if (type instanceof BinaryType) {
      return rows.getBytes(at);
    } else if (type instanceof ArrayType array) {
      java.sql.Array found = rows.getArray(at);
      return found == null ? null : array((Object[]) found.getArray(), array.elementType());
    }
    return converted(moment(rows, at, type), type);
  }

  private Object moment(ResultSet rows, int at, DataType type) throws SQLException {
    if (dialect == Dialect.SQLITE) {
      return rows.getString(at);
    } else if (type instanceof DateType) {
      return rows.getObject(at, LocalDate.class);
    } else if (type instanceof TimeType) {
      return rows.getObject(at, LocalTime.class);
    }
    return rows.getObject(at, LocalDateTime.class);
  }

  private static GenericArrayData array(Object[] elements, DataType type) {
    Object[] found = new Object[elements.length];
    for (int i = 0; i < elements.length; i++) {
      found[i] = elements[i] == null ? null : converted(elements[i], type);
    }
    return new GenericArrayData(found);
  }

  /** Converts a value of a driver, such as an element of an array. */
  private static Object converted(Object value, DataType type) {
    if (value == null) {
      return null;
    } else if (type instanceof StringType) {
      return UTF8String.fromString(value.toString());
    } else if (type instanceof DecimalType decimal) {
      return decimal(new BigDecimal(value.toString()), decimal);
    } else if (type instanceof DateType) {
      return (int) date(value).toEpochDay();
    } else if (type instanceof TimeType) {
      return time(value).toNanoOfDay();
    } else if (type instanceof TimestampNTZType) {
      return DateTimeUtils.localDateTimeToMicros(dateTime(value));
    } else if (value instanceof Number number) {
      return number(number, type);
    }
    return value;
  }

  private static Object number(Number number, DataType type) {
    if (type instanceof LongType) {
      return number.longValue();
    } else if (type instanceof IntegerType) {
      return number.intValue();
    } else if (type instanceof ShortType) {
      return number.shortValue();
    } else if (type instanceof ByteType) {
      return number.byteValue();
    }
    return type instanceof FloatType ? (Object) number.floatValue() : (Object) number.doubleValue();
  }

  private static LocalDate date(Object value) {
    if (value instanceof java.sql.Date date) {
      return date.toLocalDate();
    }
    return value instanceof LocalDate date ? date : LocalDate.parse(value.toString());
  }

  private static LocalTime time(Object value) {
    if (value instanceof Time time) {
      return LocalTime.ofNanoOfDay(
          TimeUnit.MILLISECONDS.toNanos(time.getTime() % TimeUnit.SECONDS.toMillis(1))
              + time.toLocalTime().toNanoOfDay());
    }
    return value instanceof LocalTime time ? time : LocalTime.parse(value.toString());
  }

  private static LocalDateTime dateTime(Object value) {
    if (value instanceof Timestamp time) {
      return time.toLocalDateTime();
    }
    return value instanceof LocalDateTime time
        ? time
        : LocalDateTime.parse(value.toString(), DATE_TIME);
  }

  /** Rounds to the declared scale; null if the number has too many digits, as in Flink. */
  private static Decimal decimal(BigDecimal value, DecimalType type) {
    if (value == null) {
      return null;
    }
    BigDecimal rounded = value.setScale(type.scale(), RoundingMode.HALF_UP);
    return rounded.precision() > type.precision()
        ? null
        : Decimal.apply(rounded, type.precision(), type.scale());
  }
}
