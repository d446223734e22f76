package io.streamtable.codec.csv;

import com.fasterxml.jackson.core.Base64Variants;
import io.streamtable.codec.Texts;
import io.streamtable.codec.TimeText;
import java.math.BigDecimal;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
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

/** Creates writers per type, with the spelling and quoting of Flink's csv format. */
final class CsvWriters {
  /** Jackson quotes longer texts without examining them. */
  private static final int LONGEST_LOOKED_AT = 24;

  private static final TimeText TIMES = new TimeText(false);

  private final CsvDialect dialect;
  private final char quotedBelow;
  private final char quotedToo;

  CsvWriters(CsvDialect dialect) {
    this.dialect = dialect;
    int highest = Math.max(dialect.delimiter(), dialect.quote());
    quotedBelow = (char) (highest + 1);
    quotedToo = dialect.escape() == 0 ? '\\' : dialect.escape();
  }

  /** Appends a value that is not null. */
  interface Writer {
    void write(SpecializedGetters from, int position, StringBuilder out);
  }

  /** Writes a whole row as a line without its line end. */
  interface RowWriter {
    void write(SpecializedGetters row, StringBuilder out);
  }

  RowWriter row(StructType type) {
    Writer[] columns = new Writer[type.size()];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = column(type.apply(i).dataType());
    }
    return (row, out) -> {
      for (int i = 0; i < columns.length; i++) {
        if (i > 0) {
          out.append(dialect.delimiter());
        }
        columns[i].write(row, i, out);
      }
    };
  }

  /** Writes a column: numbers and nulls are never quoted, other values only if necessary. */
  private Writer column(DataType type) {
    Writer writer = orNull(of(type));
    if (isBare(type)) {
      return writer;
    }
    return (from, i, out) -> {
      int start = out.length();
      writer.write(from, i, out);
      if (!from.isNullAt(i)) {
        quote(out, start);
      }
    };
  }

  private Writer of(DataType type) {
    if (type instanceof StructType row) {
      Writer[] parts = new Writer[row.size()];
      for (int i = 0; i < parts.length; i++) {
        parts[i] = orNull(scalar(row.apply(i).dataType()));
      }
      return (from, i, out) -> {
        SpecializedGetters inner = from.getStruct(i, parts.length);
        for (int part = 0; part < parts.length; part++) {
          separate(part, out);
          parts[part].write(inner, part, out);
        }
      };
    }
    if (type instanceof ArrayType array) {
      Writer element = orNull(scalar(array.elementType()));
      return (from, i, out) -> {
        ArrayData elements = from.getArray(i);
        for (int part = 0; part < elements.numElements(); part++) {
          separate(part, out);
          element.write(elements, part, out);
        }
      };
    }
    return scalar(type);
  }

  private void separate(int part, StringBuilder out) {
    if (part > 0) {
      out.append(dialect.arrayDelimiter());
    }
  }

  private Writer orNull(Writer writer) {
    String nothing = dialect.nullLiteral() == null ? "" : dialect.nullLiteral();
    return (from, i, out) -> {
      if (from.isNullAt(i)) {
        out.append(nothing);
      } else {
        writer.write(from, i, out);
      }
    };
  }

  private static boolean isBare(DataType type) {
    return type instanceof BooleanType
        || type instanceof ByteType
        || type instanceof ShortType
        || type instanceof IntegerType
        || type instanceof LongType
        || type instanceof FloatType
        || type instanceof DoubleType
        || type instanceof DecimalType;
  }

  private Writer scalar(DataType type) {
    Writer writer = number(type);
    if (writer != null) {
      return writer;
    }
    if (type instanceof StringType) {
      return (from, i, out) -> out.append(from.getUTF8String(i).toString());
    }
    if (type instanceof BooleanType) {
      return (from, i, out) -> out.append(from.getBoolean(i));
    }
    if (type instanceof BinaryType) {
      return (from, i, out) ->
          out.append(Base64Variants.MIME_NO_LINEFEEDS.encode(from.getBinary(i)));
    }
    if (type instanceof DateType) {
      return (from, i, out) -> out.append(TimeText.formatDate(from.getInt(i)));
    }
    if (type instanceof TimeType) {
      return (from, i, out) -> out.append(TimeText.formatTime(from.getLong(i)));
    }
    if (type instanceof TimestampNTZType) {
      return (from, i, out) -> out.append(TIMES.formatTimestamp(from.getLong(i)));
    }
    if (type instanceof TimestampType) {
      return (from, i, out) -> out.append(TIMES.formatInstant(from.getLong(i)));
    }
    throw new IllegalArgumentException("csv cannot hold " + Texts.name(type));
  }

  private Writer number(DataType type) {
    if (type instanceof LongType) {
      return (from, i, out) -> out.append(from.getLong(i));
    }
    if (type instanceof IntegerType) {
      return (from, i, out) -> out.append(from.getInt(i));
    }
    if (type instanceof ShortType) {
      return (from, i, out) -> out.append(from.getShort(i));
    }
    if (type instanceof ByteType) {
      return (from, i, out) -> out.append(from.getByte(i));
    }
    if (type instanceof DoubleType) {
      return (from, i, out) -> out.append(from.getDouble(i));
    }
    if (type instanceof FloatType) {
      return (from, i, out) -> out.append(from.getFloat(i));
    }
    if (type instanceof DecimalType decimal) {
      int precision = decimal.precision();
      int scale = decimal.scale();
      return (from, i, out) ->
          out.append(text(from.getDecimal(i, precision, scale).toJavaBigDecimal()));
    }
    return null;
  }

  private String text(BigDecimal number) {
    return dialect.scientific()
        ? number.stripTrailingZeros().toString()
        : number.toPlainString();
  }

  /**
   * Applies Jackson's rule: quotes by length, or if a character is not greater than all special
   * ones.
   */
  private void quote(StringBuilder out, int start) {
    if (dialect.quote() == 0 || !needsQuotes(out, start)) {
      return;
    }
    String text = out.substring(start);
    out.setLength(start);
    out.append(dialect.quote());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == dialect.quote() || (dialect.escape() != 0 && c == dialect.escape())) {
        out.append(c);
      }
      out.append(c);
    }
    out.append(dialect.quote());
  }

  private boolean needsQuotes(StringBuilder out, int start) {
    if (out.length() - start > LONGEST_LOOKED_AT) {
      return true;
    }
    for (int i = start; i < out.length(); i++) {
      if (out.charAt(i) < quotedBelow || out.charAt(i) == quotedToo) {
        return true;
      }
    }
    return false;
  }
}
