package io.streamtable.codec.csv;

import com.fasterxml.jackson.core.Base64Variants;
import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Texts;
import io.streamtable.codec.TimeText;
import io.streamtable.codec.json.JsonNumbers;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
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
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/** Creates readers per type, with the conversions of Flink's csv format. */
final class CsvReaders {
  private static final Pattern DATE = Pattern.compile("(\\d{4})-(\\d{1,2})-(\\d{1,2})");
  private static final TimeText TIMES = new TimeText(false);
  private static final long[] TIME_UNITS = {1_000_000_000L, 100_000_000L, 10_000_000L, 1_000_000L};

  private final CsvDialect dialect;

  /**
   * Number of fields that could not be parsed and were set to null since the last call of
   * takeErrors.
   */
  private int errors;

  CsvReaders(CsvDialect dialect) {
    this.dialect = dialect;
  }

  int takeErrors() {
    int taken = errors;
    errors = 0;
    return taken;
  }

  /** Reads a row from the fields of a line, or from the parts of one field. */
  interface RowReader {
    GenericInternalRow read(List<String> fields) throws DecodeException;
  }

  RowReader row(StructType type) {
    String[] names = type.fieldNames();
    CsvReader[] readers = new CsvReader[names.length];
    for (int i = 0; i < readers.length; i++) {
      readers[i] = of(type.apply(i).dataType());
    }
    return fields -> {
      if (fields.size() < names.length && !dialect.ignoreErrors()) {
        throw new DecodeException(
            fields.size() + " fields, where there are " + names.length + " columns");
      }
      Object[] values = new Object[names.length];
      for (int i = 0; i < Math.min(names.length, fields.size()); i++) {
        try {
          values[i] = readers[i].read(fields.get(i));
        } catch (DecodeException e) {
          throw e.in(names[i]);
        }
      }
      return new GenericInternalRow(values);
    };
  }

  private CsvReader of(DataType type) {
    if (type instanceof StructType row) {
      RowReader reader = row(row);
      return orNull(text -> text.isEmpty() ? null : reader.read(parts(text)));
    }
    if (type instanceof ArrayType array) {
      CsvReader element = of(array.elementType());
      return orNull(
          text -> {
            List<Object> elements = new ArrayList<>();
            for (String part : parts(text)) {
              elements.add(element.read(part));
            }
            return new GenericArrayData(elements.toArray());
          });
    }
    CsvReader reader = scalar(type);
    return orNull(
        text -> {
          if (text.equals(dialect.nullLiteral())) {
            return null;
          }
          try {
            return reader.read(text);
          } catch (RuntimeException e) {
            throw new DecodeException(
                "'" + Texts.shorten(text) + "' is not a valid " + Texts.name(type));
          }
        });
  }

  /** Returns the elements of an array or a nested row; none for an empty text. */
  private List<String> parts(String text) {
    List<String> parts = new ArrayList<>();
    int from = 0;
    for (int end = text.indexOf(dialect.arrayDelimiter()); end >= 0; ) {
      parts.add(text.substring(from, end));
      from = end + 1;
      end = text.indexOf(dialect.arrayDelimiter(), from);
    }
    if (!text.isEmpty()) {
      parts.add(text.substring(from));
    }
    return parts;
  }

  private CsvReader orNull(CsvReader reader) {
    if (!dialect.ignoreErrors()) {
      return reader;
    }
    return text -> {
      try {
        return reader.read(text);
      } catch (DecodeException e) {
        errors++;
        return null;
      }
    };
  }

  private static CsvReader scalar(DataType type) {
    CsvReader reader = number(type);
    if (reader != null) {
      return reader;
    }
    if (type instanceof StringType) {
      return UTF8String::fromString;
    }
    if (type instanceof BooleanType) { // any text other than true is false, as in Flink
      return text -> Boolean.parseBoolean(text.trim());
    }
    if (type instanceof BinaryType) {
      return text -> Base64Variants.MIME_NO_LINEFEEDS.decode(text.trim());
    }
    if (type instanceof DateType) {
      return CsvReaders::date;
    }
    if (type instanceof TimeType time) {
      long unit = TIME_UNITS[Math.min(time.precision(), 3)];
      return text -> {
        long nanos = LocalTime.parse(text).toNanoOfDay();
        return nanos - nanos % unit;
      };
    }
    if (type instanceof TimestampNTZType) {
      return text -> TIMES.parseDateTime(text.trim());
    }
    if (type instanceof TimestampType) {
      return text -> TIMES.parseDateTimeZ(text.trim());
    }
    throw new IllegalArgumentException("csv cannot hold " + Texts.name(type));
  }

  private static CsvReader number(DataType type) {
    if (type instanceof LongType) {
      return text -> Long.parseLong(text.trim());
    }
    if (type instanceof IntegerType) {
      return text -> Integer.parseInt(text.trim());
    }
    if (type instanceof ShortType) {
      return text -> Short.parseShort(text.trim());
    }
    if (type instanceof ByteType) {
      return text -> Byte.parseByte(text.trim());
    }
    if (type instanceof DoubleType) {
      return text -> Double.parseDouble(text.trim());
    }
    if (type instanceof FloatType) {
      return text -> Float.parseFloat(text.trim());
    }
    if (type instanceof DecimalType decimal) {
      return text -> JsonNumbers.fit(new BigDecimal(text), decimal.precision(), decimal.scale());
    }
    return null;
  }

  /** Parses a date. A day after the end of its month is in the next month, as in java.sql.Date. */
  private static int date(String text) {
    Matcher parts = DATE.matcher(text);
    int day = parts.matches() ? Integer.parseInt(parts.group(3)) : 0;
    if (day < 1 || day > 31) {
      throw new IllegalArgumentException(text);
    }
    int year = Integer.parseInt(parts.group(1));
    LocalDate first = LocalDate.of(year, Integer.parseInt(parts.group(2)), 1);
    return Math.toIntExact(first.plusDays(day - 1L).toEpochDay());
  }
}
