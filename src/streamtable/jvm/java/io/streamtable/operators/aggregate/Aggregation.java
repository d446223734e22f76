package io.streamtable.operators.aggregate;

import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.accumulator.CountAccumulator;
import io.streamtable.operators.accumulator.EdgeAccumulator;
import io.streamtable.operators.accumulator.ExtremeAccumulator;
import io.streamtable.operators.accumulator.LagAccumulator;
import io.streamtable.operators.accumulator.PythonAccumulator;
import io.streamtable.operators.accumulator.RankAccumulator;
import io.streamtable.operators.accumulator.SumAccumulator;
import io.streamtable.operators.accumulator.VarianceAccumulator;
import io.streamtable.operators.accumulator.bitmap.BitmapAccumulator;
import io.streamtable.operators.accumulator.counted.DistinctAccumulator;
import io.streamtable.operators.accumulator.counted.DistinctIntegersAccumulator;
import io.streamtable.operators.accumulator.counted.MultisetAccumulator;
import io.streamtable.operators.accumulator.counted.PercentileAccumulator;
import io.streamtable.operators.accumulator.counted.RetractableExtremeAccumulator;
import io.streamtable.operators.accumulator.list.JsonText;
import io.streamtable.operators.accumulator.list.ListAccumulator;
import io.streamtable.operators.accumulator.list.ListResult;
import io.streamtable.python.PythonProgram;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * The specification of one aggregate call. The planner decides; this class only builds.
 *
 * @param function its name in Flink
 * @param argument position in the input row, -1 for COUNT(*)
 * @param filter position of a boolean in the input row, -1 for none
 * @param parameters arguments of the function in addition to its values: the largest result of
 *     COUNT, if it is limited; the separator of LISTAGG; the offset of LAG; ONE or ARRAY and the percentages of PERCENTILE; ABSENT or NULL for the
 *     handling of NULLs in a JSON aggregate, then RAW if its strings are JSON
 * @param python the function, if a user has written it in Python; else null
 */
public record Aggregation(
    String function,
    int argument,
    int filter,
    boolean distinct,
    DataType argumentType,
    DataType resultType,
    List<String> parameters,
    PythonProgram python)
    implements Serializable {
  /** Returns the same call with other positions of its argument and filter. */
  Aggregation at(int argument, int filter) {
    return new Aggregation(
        function, argument, filter, distinct, argumentType, resultType, parameters, python);
  }

  /** Creates the accumulator of each call. */
  public static List<Accumulator> accumulators(
      List<Aggregation> calls, boolean retracting, boolean bitmaps) {
    List<Accumulator> found = new ArrayList<>();
    for (Aggregation call : calls) {
      found.add(call.accumulator(retracting, bitmaps));
    }
    return found;
  }

  /** Returns the value of a raw input row; null if the row does not take part. */
  Object value(Row row) {
    if (filter >= 0 && !Boolean.TRUE.equals(row.get(filter))) {
      return null;
    }
    return argument < 0 ? Boolean.TRUE : row.get(argument);
  }

  Accumulator accumulator(boolean retracting, boolean bitmaps) {
    ListResult list = list();
    if (list != null && !retracting && function.endsWith("_VALUE")) {
      return new EdgeAccumulator(argumentType, function.equals("LAST_VALUE"));
    }
    if (list != null) {
      return new ListAccumulator(argumentType, distinct, list);
    }
    if (python != null) {
      Accumulator user = new PythonAccumulator(python, argumentType, resultType);
      return distinct ? new DistinctAccumulator(argumentType, user) : user;
    }
    Accumulator plain =
        switch (function) {
          case "COUNT" -> new CountAccumulator(most());
          case "SUM" -> new SumAccumulator(argumentType, resultType, false);
          case "AVG" -> new SumAccumulator(argumentType, resultType, true);
          case "MIN", "MAX" -> extreme(retracting);
          case "PERCENTILE" -> PercentileAccumulator.of(parameters);
          case "COLLECT" -> new MultisetAccumulator(argumentType);
          case "BITMAP_BUILD_AGG", "BITMAP_BUILD_CARDINALITY_AGG",
              "BITMAP_AND_AGG", "BITMAP_AND_CARDINALITY_AGG",
              "BITMAP_OR_AGG", "BITMAP_OR_CARDINALITY_AGG",
              "BITMAP_XOR_AGG", "BITMAP_XOR_CARDINALITY_AGG" ->
              BitmapAccumulator.of(function, retracting);
          case "VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV_POP", "STDDEV_SAMP", "STDDEV" ->
              variance();
          case "ROW_NUMBER" -> new CountAccumulator(Long.MAX_VALUE);
          case "RANK", "DENSE_RANK" ->
              new RankAccumulator(argumentType, function.equals("DENSE_RANK"));
          case "LAG" -> new LagAccumulator(argumentType, Integer.parseInt(parameters.get(0)));
          default -> throw new IllegalArgumentException("no accumulator for " + function);
        };
    if (!distinct || sameOfSet()) {
      return plain;
    }
    return !retracting && bitmaps && isInteger(argumentType)
        ? new DistinctIntegersAccumulator(argumentType, plain)
        : new DistinctAccumulator(argumentType, plain);
  }

  /**
   * Returns the result function of an aggregate that depends on the order; null for other
   * aggregates.
   */
  private ListResult list() {
    return switch (function) {
      case "FIRST_VALUE" -> ListResult::first;
      case "LAST_VALUE" -> ListResult::last;
      case "ARRAY_AGG" -> ListResult.array(isWrapped());
      case "LISTAGG" -> ListResult.joined(parameters.get(0));
      case "JSON_ARRAYAGG" ->
          ListResult.jsonArray(
              new JsonText(parameters.contains("RAW")), parameters.get(0).equals("NULL"));
      case "JSON_OBJECTAGG" ->
          ListResult.jsonObject(
              new JsonText(parameters.contains("RAW")), parameters.get(0).equals("NULL"));
      default -> null;
    };
  }

  /** Returns the largest result of COUNT. */
  private long most() {
    return parameters.isEmpty() ? Long.MAX_VALUE : Long.parseLong(parameters.get(0));
  }

  /** Returns whether each value of an array is wrapped in a row, because NULLs are values. */
  private boolean isWrapped() {
    return argumentType instanceof StructType row
        && row.length() == 1
        && row.apply(0).dataType().sameType(((ArrayType) resultType).elementType());
  }

  /** Returns whether the result over the set of the values equals that over their multiset. */
  private boolean sameOfSet() {
    boolean ofBitmaps = function.startsWith("BITMAP_") && !function.startsWith("BITMAP_XOR_");
    return function.equals("MIN") || function.equals("MAX") || ofBitmaps;
  }

  private Accumulator variance() {
    boolean sample = !function.endsWith("_POP");
    return new VarianceAccumulator(
        argumentType, resultType, sample, function.startsWith("STDDEV"));
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
