package io.streamtable.functions;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A per-thread cache of what recent texts mean: a time zone, a pattern. Null results are cached too.
 * A literal of SQL is the same object in each call, so the last text is found without its hash.
 */
final class Cache<V> {
  private static final int SIZE = 64;

  private final ThreadLocal<Recent<V>> made = ThreadLocal.withInitial(Recent::new);
  private final Function<String, V> make;

  Cache(Function<String, V> make) {
    this.make = make;
  }

  /** Returns the result for a text; null if there is none. */
  V get(UTF8String text) {
    Recent<V> recent = made.get();
    if (text != recent.text) {
      Optional<V> found = recent.get(text);
      if (found == null) {
        found = Optional.ofNullable(make.apply(text.toString()));
        // The bytes of a column change with the next row.
        recent.put(text.copy(), found);
      }
      recent.value = found.orElse(null);
      recent.text = text;
    }
    return recent.value;
  }

  /** The recent results of a thread, by the order of their last use, and the last of them. */
  private static final class Recent<V> extends LinkedHashMap<UTF8String, Optional<V>> {
    private UTF8String text;
    private V value;

    Recent() {
      super(SIZE, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<UTF8String, Optional<V>> eldest) {
      return size() > SIZE;
    }
  }
}
