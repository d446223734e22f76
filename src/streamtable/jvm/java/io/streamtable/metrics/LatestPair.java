package io.streamtable.metrics;

import org.apache.spark.SparkContext;
import org.apache.spark.util.AccumulatorV2;

/**
 * Keeps the pair with the greatest first number of all pairs that tasks add: a time and a
 * measurement at that time. Of equal times, the last counts. It is empty until a pair is added.
 */
public final class LatestPair extends AccumulatorV2<long[], long[]> {
  private static final long[] NONE = {Long.MIN_VALUE, 0};

  private long first = NONE[0];
  private long second = NONE[1];

  /** Registers a pair that the driver can read. */
  public static LatestPair register(SparkContext context, String name) {
    LatestPair pair = new LatestPair();
    context.register(pair, name);
    return pair;
  }

  @Override
  public boolean isZero() {
    return first == NONE[0];
  }

  @Override
  public LatestPair copy() {
    LatestPair copy = new LatestPair();
    copy.add(first, second);
    return copy;
  }

  @Override
  public void reset() {
    first = NONE[0];
    second = NONE[1];
  }

  @Override
  public void add(long[] pair) {
    add(pair[0], pair[1]);
  }

  /** Adds a pair without an array for each row. */
  public void add(long newFirst, long newSecond) {
    if (newFirst >= first) {
      first = newFirst;
      second = newSecond;
    }
  }

  @Override
  public void merge(AccumulatorV2<long[], long[]> other) {
    add(other.value());
  }

  @Override
  public long[] value() {
    return new long[] {first, second};
  }

  /** Returns the pair as text, separated by a blank; empty if there is no pair. */
  public String text() {
    return isZero() ? "" : first + " " + second;
  }
}
