package io.streamtable.operators;

import java.io.Serializable;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * One aggregate call, by plain values; the planner decides, this only builds.
 *
 * @param function COUNT, SUM, AVG, MIN or MAX
 * @param argument position in the input row, -1 for COUNT(*)
 * @param filter position of a boolean in the input row, -1 for none
 */
public record Aggregation(
    String function,
    int argument,
    int filter,
    boolean distinct,
    DataType argumentType,
    DataType resultType)
    implements Serializable {
  /** From Spark's DDL spelling of the types, as Python hands them over. */
  public static Aggregation of(
      String function,
      int argument,
      int filter,
      boolean distinct,
      String argumentType,
      String resultType) {
    return new Aggregation(
        function,
        argument,
        filter,
        distinct,
        DataType.fromDDL(argumentType),
        DataType.fromDDL(resultType));
  }

  /** The value that a raw input row contributes; null where it does not take part. */
  Object value(Row row) {
    if (filter >= 0 && !Boolean.TRUE.equals(row.get(filter))) {
      return null;
    }
    return argument < 0 ? Boolean.TRUE : row.get(argument);
  }

  Accumulator accumulator(boolean retracting, boolean bitmaps) {
    Accumulator plain =
        switch (function) {
          case "COUNT" -> new CountAccumulator();
          case "SUM" -> new SumAccumulator(argumentType, resultType, false);
          case "AVG" -> new SumAccumulator(argumentType, resultType, true);
          case "MIN", "MAX" -> extreme(retracting);
          default -> throw new IllegalArgumentException("no accumulator for " + function);
        };
    // A set has the same extremes as its multiset, so MIN and MAX need no distinct of their own.
    if (!distinct || function.equals("MIN") || function.equals("MAX")) {
      return plain;
    }
    return !retracting && bitmaps && isInteger(argumentType)
        ? new DistinctIntegersAccumulator(argumentType, plain)
        : new DistinctAccumulator(argumentType, plain);
  }

  private Accumulator extreme(boolean retracting) {
    boolean max = function.equals("MAX");
    return retracting
        ? new RetractableExtremeAccumulator(argumentType, max)
        : new ExtremeAccumulator(argumentType, max);
  }

  private static boolean isInteger(DataType type) {
    return type.equals(DataTypes.LongType)
        || type.equals(DataTypes.IntegerType)
        || type.equals(DataTypes.ShortType)
        || type.equals(DataTypes.ByteType);
  }
}
