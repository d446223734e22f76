package io.streamtable.operators.row;

import java.math.BigDecimal;
import java.math.RoundingMode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;

/** Converts numbers to the boxed classes that Spark's external rows require for a type. */
public final class Numbers {
  private Numbers() {}

  /** Boxes an integer as its type. A number that is too large wraps. */
  public static Object boxed(long value, DataType type) {
    if (type.equals(DataTypes.ByteType)) {
      return (byte) value;
    }
    if (type.equals(DataTypes.ShortType)) {
      return (short) value;
    }
    return type.equals(DataTypes.IntegerType) ? (Object) (int) value : (Object) value;
  }

  /** Boxes a floating-point number as its type. */
  public static Object boxed(double value, DataType type) {
    return type.equals(DataTypes.FloatType) ? (Object) (float) value : (Object) value;
  }

  /** Returns the value at the type's scale, or null if it has too many digits. */
  public static BigDecimal fitted(BigDecimal value, DecimalType type) {
    BigDecimal scaled = value.setScale(type.scale(), RoundingMode.HALF_UP);
    return scaled.precision() > type.precision() ? null : scaled;
  }
}
