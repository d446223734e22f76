package io.streamtable.codec;

import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.util.LongAccumulator;

/** Named counts that tasks raise and the driver reads: what is left out is never left out unseen. */
public final class Counters implements Serializable {
  private final LinkedHashMap<String, LongAccumulator> byName = new LinkedHashMap<>();

  private Counters() {}

  /** Counters of these names, at zero. */
  public static Counters register(SparkContext context, String[] names) {
    Counters counters = new Counters();
    for (String name : names) {
      counters.byName.put(name, context.longAccumulator(name));
    }
    return counters;
  }

  /** Raises one counter. */
  public void add(String name, long by) {
    byName.get(name).add(by);
  }

  /** One counter, for who raises it with every record. */
  public LongAccumulator of(String name) {
    return byName.get(name);
  }

  /** All counts as the driver knows them now. */
  public Map<String, Long> values() {
    Map<String, Long> values = new LinkedHashMap<>();
    byName.forEach((name, count) -> values.put(name, count.value()));
    return values;
  }
}
