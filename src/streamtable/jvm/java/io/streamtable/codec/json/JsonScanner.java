package io.streamtable.codec.json;

import io.streamtable.codec.TimeText;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads usual objects directly from their bytes, and leaves all others to the parser, with the same
 * rows. Names and numbers are compared and computed in place, and a string is a reference into the
 * record. A usual object has columns of one token each or usual objects within, strings without
 * escapes, and values of their columns' types. The scanner does not distinguish the causes of an
 * unusual object, which include errors.
 */
final class JsonScanner {
  private static final Object UNUSUAL = new Object();
  private static final int MAX_BYTES = 1 << 20;

  /** The form of a column's value. */
  private enum Look {
    TEXT,
    BIGINT,
    INT,
    BOOLEAN,
    /** A number that is passed to a parser. */
    NUMBER,
    /** A string that is passed to a parser. */
    QUOTED,
    /** An object. */
    ROW
  }

  /** Parses a value from the bytes of a record. */
  private interface Parser {
    Object parse(byte[] in, int start, int end);
  }

  /** A column, or a field of a row; `fields` are those of a row. */
  private record Column(byte[] name, Look look, Parser parser, Column[] fields) {}

  private final Column[] columns;
  private final boolean missingIsUnusual;

  private final JsonCursor cursor = new JsonCursor();
  private byte[] in;

  private JsonScanner(Column[] columns, boolean missingIsUnusual) {
    this.columns = columns;
    this.missingIsUnusual = missingIsUnusual;
  }

  /** Creates a scanner of such objects; null if a column's type needs the parser. */
  static JsonScanner of(StructType type, boolean failOnMissing, TimeText times) {
    Column[] columns = columns(type, times);
    return columns == null ? null : new JsonScanner(columns, failOnMissing);
  }

  private static Column[] columns(StructType type, TimeText times) {
    Column[] columns = new Column[type.size()];
    for (int i = 0; i < columns.length; i++) {
      DataType column = type.apply(i).dataType();
      Look look = look(column);
      Column[] fields = look == Look.ROW ? columns((StructType) column, times) : new Column[0];
      if (look == null || fields == null) {
        return null;
      }
      byte[] name = type.apply(i).name().getBytes(StandardCharsets.UTF_8);
      columns[i] = new Column(name, look, parser(column, times), fields);
    }
    return columns;
  }

  private static Look look(DataType type) {
    if (type instanceof StringType) {
      return Look.TEXT;
    }
    if (type instanceof LongType) {
      return Look.BIGINT;
    }
    if (type instanceof IntegerType) {
      return Look.INT;
    }
    if (type instanceof BooleanType) {
      return Look.BOOLEAN;
    }
    if (type instanceof DoubleType || type instanceof DecimalType) {
      return Look.NUMBER;
    }
    if (type instanceof StructType) {
      return Look.ROW;
    }
    boolean isTime =
        type instanceof DateType
            || type instanceof TimeType
            || type instanceof TimestampNTZType
            || type instanceof TimestampType;
    return isTime ? Look.QUOTED : null;
  }

  private static Parser parser(DataType type, TimeText times) {
    if (type instanceof TimestampNTZType) {
      return times::parseTimestamp;
    }
    if (type instanceof TimestampType) {
      return times::parseInstant;
    }
    Function<String, Object> parser = textParser(type);
    return (in, start, end) ->
        parser.apply(new String(in, start, end - start, StandardCharsets.UTF_8));
  }

  private static Function<String, Object> textParser(DataType type) {
    if (type instanceof DoubleType) {
      return Double::valueOf;
    }
    if (type instanceof DecimalType decimal) {
      int precision = decimal.precision();
      int scale = decimal.scale();
      return text -> JsonNumbers.fit(new BigDecimal(text), precision, scale);
    }
    if (type instanceof TimeType time) {
      return text -> TimeText.parseTime(text, time.precision());
    }
    return TimeText::parseDate;
  }

  /**
   * Returns the row of an object; null for an unusual object. Strings of the row refer to `bytes`.
   */
  GenericInternalRow read(byte[] bytes) {
    if (bytes.length > MAX_BYTES) {
      return null;
    }
    in = bytes;
    cursor.begin(bytes);
    Object found = cursor.next() == '{' ? row(columns) : UNUSUAL;
    return found == UNUSUAL ? null : (GenericInternalRow) found;
  }

  /** Reads an object after its opening brace. */
  private Object row(Column[] columns) {
    Object[] values = new Object[columns.length];
    if (missingIsUnusual) {
      Arrays.fill(values, UNUSUAL);
    }
    return fields(columns, values) && isComplete(values) ? new GenericInternalRow(values) : UNUSUAL;
  }

  private boolean isComplete(Object[] values) {
    for (int i = 0; missingIsUnusual && i < values.length; i++) {
      if (values[i] == UNUSUAL) {
        return false;
      }
    }
    return true;
  }

  /** Reads the fields after the opening brace, up to the closing brace. */
  private boolean fields(Column[] columns, Object[] values) {
    int c = cursor.next();
    if (c == '}') {
      return true;
    }
    int expected = 0;
    while (c == '"') {
      int start = cursor.position();
      if (!cursor.text()) {
        return false;
      }
      int field = field(columns, start, cursor.position() - 1 - start, expected);
      if (cursor.next() != ':' || !(field < 0 ? cursor.skip() : put(columns, field, values))) {
        return false;
      }
      c = cursor.next();
      if (c != ',') {
        return c == '}';
      }
      c = cursor.next();
      expected = field < 0 ? expected : field + 1;
    }
    return false;
  }

  private boolean put(Column[] columns, int field, Object[] values) {
    values[field] = value(columns[field]);
    return values[field] != UNUSUAL;
  }

  /**
   * Returns the position of a field. Writers keep an order, so the field after the last one is
   * checked first.
   */
  private int field(Column[] columns, int start, int length, int expected) {
    for (int i = expected; i < columns.length; i++) {
      if (isName(columns[i].name(), start, length)) {
        return i;
      }
    }
    for (int i = 0; i < expected; i++) {
      if (isName(columns[i].name(), start, length)) {
        return i;
      }
    }
    return -1;
  }

  private boolean isName(byte[] name, int start, int length) {
    return name.length == length && Arrays.equals(name, 0, length, in, start, start + length);
  }

  private Object value(Column column) {
    int c = cursor.next();
    if (c == 'n') {
      return cursor.rest("ull") ? null : UNUSUAL;
    }
    int start = cursor.position() - 1;
    switch (column.look()) {
      case TEXT:
        return c == '"' && cursor.text()
            ? UTF8String.fromBytes(in, start + 1, cursor.position() - 2 - start)
            : UNUSUAL;
      case BIGINT:
        return cursor.whole(c) ? (Object) cursor.value(start) : UNUSUAL;
      case INT:
        return cursor.whole(c) ? narrowed(cursor.value(start)) : UNUSUAL;
      case BOOLEAN:
        return truth(c);
      case NUMBER:
        return cursor.number(c) ? parsed(column, start, cursor.position()) : UNUSUAL;
      case ROW:
        return c == '{' ? row(column.fields()) : UNUSUAL;
      default:
        return c == '"' && cursor.text()
            ? parsed(column, start + 1, cursor.position() - 1)
            : UNUSUAL;
    }
  }

  private static Object narrowed(long number) {
    return (int) number == number ? (Object) (int) number : UNUSUAL;
  }

  private Object truth(int first) {
    if (first == 't' && cursor.rest("rue")) {
      return true;
    }
    return first == 'f' && cursor.rest("alse") ? (Object) false : UNUSUAL;
  }

  private Object parsed(Column column, int start, int end) {
    try {
      return column.parser().parse(in, start, end);
    } catch (RuntimeException e) { // the parser reports the error
      return UNUSUAL;
    }
  }
}
