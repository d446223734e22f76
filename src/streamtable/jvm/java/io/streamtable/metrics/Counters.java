package io.streamtable.metrics;

import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.util.LongAccumulator;

/**
 * Named counters that tasks increment and the driver reads, so that no skipped record is uncounted.
 */
public final class Counters implements Serializable {
  private final LinkedHashMap<String, LongAccumulator> byName = new LinkedHashMap<>();

  private Counters() {}

  /** Registers counters of these names, at zero. */
  public static Counters register(SparkContext context, String[] names) {
    Counters counters = new Counters();
    for (String name : names) {
      counters.byName.put(name, context.longAccumulator(name));
    }
    return counters;
  }

  /** Increments one counter. */
  public void add(String name, long by) {
    byName.get(name).add(by);
  }

  /** Returns one counter, for callers that increment it for every record. */
  public LongAccumulator of(String name) {
    return byName.get(name);
  }

  /** Returns all counters as the driver knows them now. */
  public Map<String, Long> values() {
    Map<String, Long> values = new LinkedHashMap<>();
    byName.forEach((name, count) -> values.put(name, count.value()));
    return values;
  }
}
