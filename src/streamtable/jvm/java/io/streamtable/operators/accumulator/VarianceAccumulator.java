package io.streamtable.operators.accumulator;

import io.streamtable.operators.row.Numbers;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructField;

/**
 * Variances and standard deviations, with Flink's formula and Flink's type of each step: (sum of
 * squares - square of the sum / count) / count. All steps are integers if the values are integers,
 * and have six decimal places if the values are decimals.
 */
public final class VarianceAccumulator implements Accumulator {
  private static final DecimalType DECIMALS = DataTypes.createDecimalType(38, 6);

  private final DataType argumentType;
  private final DataType resultType;
  private final boolean sample;
  private final boolean root;
  private final RunningSum sum;
  private final RunningSum squares;

  public VarianceAccumulator(DataType argumentType, DataType resultType, boolean sample, boolean root) {
    this.argumentType = argumentType;
    this.resultType = resultType;
    this.sample = sample;
    this.root = root;
    this.sum = new RunningSum(RunningSum.typeFor(argumentType));
    this.squares = new RunningSum(squareType());
  }

  private DataType squareType() {
    return argumentType instanceof DecimalType ? DECIMALS : RunningSum.typeFor(argumentType);
  }

  @Override
  public List<StructField> columns(String name) {
    List<StructField> columns = new ArrayList<>(columns(name + "_sum", argumentType));
    columns.addAll(columns(name + "_squares", squareType()));
    return columns;
  }

  private static List<StructField> columns(String name, DataType type) {
    return List.of(
        DataTypes.createStructField(name, RunningSum.typeFor(type), true),
        DataTypes.createStructField(name + "_count", DataTypes.LongType, true));
  }

  @Override
  public List<StructField> partialColumns(String name) {
    return columns(name);
  }

  @Override
  public Partial partial() {
    return new Partial() {
      private final RunningSum values = new RunningSum(RunningSum.typeFor(argumentType));
      private final RunningSum products = new RunningSum(squareType());

      @Override
      public void add(Object value, int sign) {
        values.add(value, sign);
        products.add(square(value), sign);
      }

      @Override
      public void export(Object[] row, int at) {
        values.export(row, at);
        products.export(row, at + 2);
      }
    };
  }

  private Object square(Object value) {
    if (value instanceof BigDecimal decimal) {
      return decimal.multiply(decimal).setScale(DECIMALS.scale(), RoundingMode.HALF_UP);
    }
    Number number = (Number) value;
    return squareType().equals(DataTypes.DoubleType)
        ? (Object) (number.doubleValue() * number.doubleValue())
        : (Object) (number.longValue() * number.longValue());
  }

  @Override
  public void merge(Row row, int at) {
    sum.include(row.get(at), row.get(at + 1));
    squares.include(row.get(at + 2), row.get(at + 3));
  }

  @Override
  public void load(Object[] state, int at) {
    sum.load(state[at], state[at + 1]);
    squares.load(state[at + 2], state[at + 3]);
  }

  @Override
  public void add(Object value, int sign) {
    sum.add(value, sign);
    squares.add(square(value), sign);
  }

  @Override
  public void store(Object[] state, int at) {
    sum.export(state, at);
    squares.export(state, at + 2);
  }

  @Override
  public Object result() {
    long count = sum.count();
    long divisor = sample ? count - 1 : count;
    if (count <= 0 || divisor == 0) {
      return null;
    }
    if (resultType instanceof DecimalType target) {
      return decimal(target, count, divisor);
    }
    if (squareType().equals(DataTypes.DoubleType)) {
      double total = sum.floating();
      double variance = (squares.floating() - total * total / count) / divisor;
      return Numbers.boxed(root ? Math.pow(variance, 0.5) : variance, resultType);
    }
    long total = whole(sum.whole());
    long variance = (whole(squares.whole()) - whole(total * total) / count) / divisor;
    return Numbers.boxed(root ? (long) Math.pow(variance, 0.5) : variance, resultType);
  }

  /** Wraps an integer to the type of the values. */
  private long whole(long value) {
    return ((Number) Numbers.boxed(value, argumentType)).longValue();
  }

  private Object decimal(DecimalType target, long count, long divisor) {
    if (sum.exact() == null || squares.exact() == null) {
      return null;
    }
    BigDecimal mean =
        scaled(sum.exact().multiply(sum.exact()))
            .divide(BigDecimal.valueOf(count), DECIMALS.scale(), RoundingMode.HALF_UP);
    BigDecimal variance =
        squares
            .exact()
            .subtract(mean)
            .divide(BigDecimal.valueOf(divisor), DECIMALS.scale(), RoundingMode.HALF_UP);
    return root
        ? Numbers.fitted(BigDecimal.valueOf(Math.pow(variance.doubleValue(), 0.5)), target)
        : Numbers.fitted(variance, target);
  }

  private static BigDecimal scaled(BigDecimal value) {
    return value.setScale(DECIMALS.scale(), RoundingMode.HALF_UP);
  }
}
