package io.streamtable.codec.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.YearMonthIntervalType;

/** Creates readers of numbers, which may be JSON strings. */
public final class JsonNumbers {
  private JsonNumbers() {}

  /** Returns a reader of a number; null if the type is not a number. */
  static JsonReader reader(DataType type) {
    if (type instanceof LongType) {
      return JsonNumbers::bigint;
    }
    if (type instanceof IntegerType || type instanceof YearMonthIntervalType) {
      return parser ->
          isNumber(parser) ? parser.getIntValue() : Integer.parseInt(parser.getText().trim());
    }
    if (type instanceof DayTimeIntervalType) { // milliseconds in Flink, microseconds in Spark
      return parser -> Math.multiplyExact(bigint(parser), 1_000L);
    }
    if (type instanceof ShortType) {
      return parser -> Short.parseShort(parser.getText().trim());
    }
    if (type instanceof ByteType) {
      return parser -> Byte.parseByte(parser.getText().trim());
    }
    if (type instanceof DoubleType) {
      return parser ->
          parser.currentToken() == JsonToken.VALUE_NUMBER_FLOAT
              ? parser.getDoubleValue()
              : Double.parseDouble(parser.getText().trim());
    }
    if (type instanceof FloatType) {
      return parser ->
          parser.currentToken() == JsonToken.VALUE_NUMBER_FLOAT
              ? parser.getFloatValue()
              : Float.parseFloat(parser.getText().trim());
    }
    if (type instanceof DecimalType decimal) {
      return decimal(decimal.precision(), decimal.scale());
    }
    return null;
  }

  private static boolean isNumber(JsonParser parser) {
    return parser.currentToken().isNumeric();
  }

  private static long bigint(JsonParser parser) throws IOException {
    return isNumber(parser) ? parser.getLongValue() : Long.parseLong(parser.getText().trim());
  }

  private static JsonReader decimal(int precision, int scale) {
    return parser -> {
      BigDecimal number =
          parser.currentToken() == JsonToken.VALUE_STRING
              ? new BigDecimal(parser.getText().trim())
              : parser.getDecimalValue();
      return fit(number, precision, scale);
    };
  }

  /**
   * Rounds a number half up to the scale; null if it has too many digits, as in Flink's
   * DecimalData.
   */
  public static Decimal fit(BigDecimal number, int precision, int scale) {
    if (number.signum() == 0) {
      return Decimal.apply(BigDecimal.ZERO.setScale(scale), precision, scale);
    }
    // Checked before rounding, because the digits of 1e1000000000 would not fit into memory.
    if ((long) number.precision() - number.scale() > precision - scale) {
      return null;
    }
    if ((long) number.scale() - number.precision() > scale) {
      return Decimal.apply(BigDecimal.ZERO.setScale(scale), precision, scale);
    }
    BigDecimal fitted = number.setScale(scale, RoundingMode.HALF_UP);
    return fitted.precision() > precision ? null : Decimal.apply(fitted, precision, scale);
  }
}
