package io.streamtable.operators.accumulator;

import io.streamtable.operators.row.Numbers;
import java.io.Serializable;
import java.math.BigDecimal;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;

/** The sum and count of numbers of one type, in the wide type that SUM and AVG share. */
final class RunningSum implements Partial, Serializable {
  private static final int MAX_PRECISION = 38;

  private final DataType type;
  private long whole;
  private double floating;
  /**
   * Null after an overflow of the type, permanently, as in Flink's AVG. Flink's SUM begins again with
   * the next value.
   */
  private BigDecimal exact = BigDecimal.ZERO;
  private long count;

  RunningSum(DataType type) {
    this.type = type;
  }

  /** Returns the type of sums of values of a type. */
  static DataType typeFor(DataType argument) {
    if (argument instanceof DecimalType decimal) {
      return DataTypes.createDecimalType(MAX_PRECISION, decimal.scale());
    }
    boolean approximate =
        argument.equals(DataTypes.FloatType) || argument.equals(DataTypes.DoubleType);
    return approximate ? DataTypes.DoubleType : DataTypes.LongType;
  }

  @Override
  public void add(Object value, int sign) {
    count += sign;
    if (value instanceof BigDecimal decimal) {
      include(sign > 0 ? decimal : decimal.negate());
    } else if (type.equals(DataTypes.DoubleType)) {
      floating += sign * ((Number) value).doubleValue();
    } else {
      whole += sign * ((Number) value).longValue();
    }
  }

  /** Loads a sum and a count that {@link #export} wrote; nulls are zero. */
  void load(Object sum, Object count) {
    whole = 0;
    floating = 0;
    exact = BigDecimal.ZERO;
    this.count = 0;
    include(sum, count);
  }

  /** Adds a sum and a count that {@link #export} wrote. */
  void include(Object sum, Object count) {
    if (sum instanceof Double number) {
      floating += number;
    } else if (sum instanceof Long number) {
      whole += number;
    } else if (count != null) {
      include((BigDecimal) sum);
    }
    this.count += count == null ? 0 : (Long) count;
  }

  private void include(BigDecimal value) {
    if (exact != null && value != null) {
      exact = Numbers.fitted(exact.add(value), (DecimalType) type);
    } else {
      exact = null;
    }
  }

  @Override
  public void export(Object[] row, int at) {
    if (type instanceof DecimalType) {
      row[at] = exact;
    } else if (type.equals(DataTypes.DoubleType)) {
      row[at] = floating;
    } else {
      row[at] = whole;
    }
    row[at + 1] = count;
  }

  long count() {
    return count;
  }

  long whole() {
    return whole;
  }

  double floating() {
    return floating;
  }

  BigDecimal exact() {
    return exact;
  }
}
