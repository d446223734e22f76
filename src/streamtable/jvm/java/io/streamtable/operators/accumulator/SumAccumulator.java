package io.streamtable.operators.accumulator;

import io.streamtable.operators.row.Numbers;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructField;

/**
 * SUM and AVG. Both keep the sum and the number of values as state.
 *
 * <p>As in Flink, integers wrap on overflow and averages of integers truncate. A decimal of more
 * than 38 digits becomes null.
 */
public final class SumAccumulator implements Accumulator {
  private final DataType resultType;
  private final DataType sumType;
  private final boolean average;
  private final RunningSum sum;

  public SumAccumulator(DataType argumentType, DataType resultType, boolean average) {
    this.resultType = resultType;
    this.average = average;
    this.sumType = RunningSum.typeFor(argumentType);
    this.sum = new RunningSum(sumType);
  }

  @Override
  public List<StructField> columns(String name) {
    return List.of(
        DataTypes.createStructField(name + "_sum", sumType, true),
        DataTypes.createStructField(name + "_count", DataTypes.LongType, true));
  }

  @Override
  public List<StructField> partialColumns(String name) {
    return columns(name);
  }

  @Override
  public Partial partial() {
    return new RunningSum(sumType);
  }

  @Override
  public void merge(Row row, int at) {
    sum.include(row.get(at), row.get(at + 1));
  }

  @Override
  public void load(Object[] state, int at) {
    sum.load(state[at], state[at + 1]);
  }

  @Override
  public void add(Object value, int sign) {
    sum.add(value, sign);
  }

  @Override
  public void store(Object[] state, int at) {
    sum.export(state, at);
  }

  @Override
  public Object result() {
    long count = sum.count();
    if (count <= 0) {
      return null;
    }
    if (resultType instanceof DecimalType target) {
      if (sum.exact() == null) {
        return null;
      }
      BigDecimal value =
          average
              ? sum.exact().divide(BigDecimal.valueOf(count), target.scale(), RoundingMode.HALF_UP)
              : sum.exact();
      return Numbers.fitted(value, target);
    }
    if (sumType.equals(DataTypes.DoubleType)) {
      return Numbers.boxed(average ? sum.floating() / count : sum.floating(), resultType);
    }
    return Numbers.boxed(average ? sum.whole() / count : sum.whole(), resultType);
  }
}
