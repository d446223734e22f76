package io.streamtable.operators;

import java.math.BigDecimal;
import java.math.RoundingMode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;

/** Numbers in the box that Spark's external rows want for a type. */
final class Numbers {
  private Numbers() {}

  /** A whole number in the box of its type; too large a one wraps. */
  static Object boxed(long value, DataType type) {
    if (type.equals(DataTypes.ByteType)) {
      return (byte) value;
    }
    if (type.equals(DataTypes.ShortType)) {
      return (short) value;
    }
    return type.equals(DataTypes.IntegerType) ? (Object) (int) value : (Object) value;
  }

  /** A floating-point number in the box of its type. */
  static Object boxed(double value, DataType type) {
    return type.equals(DataTypes.FloatType) ? (Object) (float) value : (Object) value;
  }

  /** The value at the type's scale, or null where its digits do not fit. */
  static BigDecimal fitted(BigDecimal value, DecimalType type) {
    BigDecimal scaled = value.setScale(type.scale(), RoundingMode.HALF_UP);
    return scaled.precision() > type.precision() ? null : scaled;
  }
}
