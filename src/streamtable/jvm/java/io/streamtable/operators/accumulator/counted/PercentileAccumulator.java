package io.streamtable.operators.accumulator.counted;

import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.accumulator.Partial;
import io.streamtable.operators.accumulator.list.ListResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;

/**
 * PERCENTILE: keeps the count of each value and interpolates percentiles between values.
 *
 * <p>Values are doubles, or rows of a double and its frequency.
 */
public final class PercentileAccumulator implements Accumulator {
  private final double[] percentages;
  private final boolean array;
  private final CountedChanges counts = new CountedChanges();

  /** @param array whether the result is an array with a percentile for each percentage */
  PercentileAccumulator(double[] percentages, boolean array) {
    this.percentages = percentages;
    this.array = array;
  }

  /** Creates the accumulator from ONE or ARRAY and the percentages. */
  public static PercentileAccumulator of(List<String> parameters) {
    double[] percentages =
        parameters.stream().skip(1).mapToDouble(Double::parseDouble).toArray();
    return new PercentileAccumulator(percentages, parameters.get(0).equals("ARRAY"));
  }

  @Override
  public List<StructField> columns(String name) {
    return List.of(CountedChanges.column(name + "_counts", DataTypes.DoubleType));
  }

  @Override
  public List<StructField> partialColumns(String name) {
    return columns(name);
  }

  @Override
  public Partial partial() {
    CountedChanges summed = new CountedChanges();
    return new Partial() {
      @Override
      public void add(Object value, int sign) {
        count(summed, value, sign);
      }

      @Override
      public void export(Object[] row, int at) {
        summed.export(row, at);
      }
    };
  }

  @Override
  public void merge(Row row, int at) {
    counts.include(row, at);
  }

  @Override
  public void load(Object[] state, int at) {
    counts.load(state[at]);
  }

  @Override
  public void add(Object value, int sign) {
    count(counts, value, sign);
  }

  private static void count(CountedChanges counts, Object value, int sign) {
    if (value instanceof Row row) {
      counts.change(row.get(0), sign * row.getLong(1));
    } else {
      counts.add(value, sign);
    }
  }

  @Override
  public void finish() {
    counts.dropNegative();
  }

  @Override
  public void store(Object[] state, int at) {
    counts.export(state, at);
  }

  @Override
  public Object result() {
    TreeMap<Double, Long> sorted = new TreeMap<>();
    counts.forEach((value, count) -> sorted.put((Double) value, count));
    if (sorted.isEmpty() || percentages.length == 0) {
      return null;
    }
    long total = sorted.values().stream().mapToLong(Long::longValue).sum();
    List<Object> found = new ArrayList<>();
    for (double percentage : percentages) {
      found.add(at(sorted, percentage * (total - 1) + 1));
    }
    return array ? ListResult.array(false).of(found) : found.get(0);
  }

  /** Returns the value at a position between 1 and the number of values. */
  private static double at(TreeMap<Double, Long> sorted, double place) {
    long lower = (long) Math.floor(place);
    long higher = (long) Math.ceil(place);
    long passed = 0;
    Double below = null;
    for (Map.Entry<Double, Long> entry : sorted.entrySet()) {
      passed += entry.getValue();
      if (below != null) {
        return (higher - place) * below + (place - lower) * entry.getKey();
      }
      if (passed >= higher) {
        return entry.getKey();
      }
      if (passed >= lower) {
        below = entry.getKey();
      }
    }
    throw new IllegalStateException("a place behind the last value");
  }
}
