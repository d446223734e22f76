package io.streamtable.jdbc;

import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimeType;

/** Sets parameters of statements from values of Spark's rows. */
final class StatementValues {
  private static final DateTimeFormatter DATE_TIME =
      new DateTimeFormatterBuilder()
          .append(DateTimeFormatter.ISO_LOCAL_DATE)
          .appendPattern(" HH:mm:ss")
          .appendFraction(ChronoField.NANO_OF_SECOND, 0, 6, true)
          .toFormatter();

  private final Dialect dialect;

  StatementValues(Dialect dialect) {
    this.dialect = dialect;
  }

  /** Sets a parameter, counted from 1, to a value of a row. */
  void set(PreparedStatement statement, int at, Object value, DataType type) throws SQLException {
    if (value == null) {
      statement.setNull(at, sqlType(type));
    } else if (value instanceof String text) {
      statement.setString(at, text);
    } else if (value instanceof Long number) {
      statement.setLong(at, number);
    } else if (value instanceof Integer number) {
      statement.setInt(at, number);
    } else if (value instanceof BigDecimal number) {
      statement.setBigDecimal(at, number);
    } else if (value instanceof Double number) {
      statement.setDouble(at, number);
    } else if (value instanceof Boolean flag) {
      statement.setBoolean(at, flag);
    } else if (value instanceof Short number) {
      statement.setShort(at, number);
    } else if (value instanceof Byte number) {
      statement.setByte(at, number);
    } else if (value instanceof Float number) {
      statement.setFloat(at, number);
    } else if (value instanceof byte[] bytes) {
      statement.setBytes(at, bytes);
    } else {
      setMoment(statement, at, value);
    }
  }

  /** Sets a date or a time. A setting of Spark decides which of two classes has a date. */
  private void setMoment(PreparedStatement statement, int at, Object value) throws SQLException {
    Object moment = value instanceof java.sql.Date date ? date.toLocalDate() : value;
    if (dialect == Dialect.SQLITE) {
      statement.setString(at, text(moment));
    } else {
      statement.setObject(at, moment);
    }
  }

  private static String text(Object moment) {
    if (moment instanceof LocalDateTime time) {
      return DATE_TIME.format(time);
    }
    return moment instanceof LocalTime time
        ? DateTimeFormatter.ISO_LOCAL_TIME.format(time)
        : DateTimeFormatter.ISO_LOCAL_DATE.format((LocalDate) moment);
  }

  private static int sqlType(DataType type) {
    if (type instanceof StringType) {
      return Types.VARCHAR;
    } else if (type instanceof LongType) {
      return Types.BIGINT;
    } else if (type instanceof IntegerType) {
      return Types.INTEGER;
    } else if (type instanceof DecimalType) {
      return Types.DECIMAL;
    } else if (type instanceof DoubleType) {
      return Types.DOUBLE;
    } else if (type instanceof BooleanType) {
      return Types.BOOLEAN;
    } else if (type instanceof ShortType || type instanceof ByteType) {
      return Types.SMALLINT;
    } else if (type instanceof FloatType) {
      return Types.REAL;
    } else if (type instanceof BinaryType) {
      return Types.BINARY;
    } else if (type instanceof DateType) {
      return Types.DATE;
    } else if (type instanceof TimeType) {
      return Types.TIME;
    }
    return Types.TIMESTAMP;
  }
}
