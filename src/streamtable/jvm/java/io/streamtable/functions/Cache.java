package io.streamtable.functions;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * A per-thread cache of recent results for repeated texts. Null results are cached too. A literal of
 * SQL is the same object in each call, so the last key is found without a hash of it.
 */
final class Cache<K, V> {
  private static final int SIZE = 64;

  private final ThreadLocal<Recent<K, V>> made = ThreadLocal.withInitial(Recent::new);
  private final Function<K, V> make;

  Cache(Function<K, V> make) {
    this.make = make;
  }

  /** Returns the result for a key; null if there is none. */
  V get(K key) {
    Recent<K, V> recent = made.get();
    if (key != recent.key) {
      recent.value =
          recent.computeIfAbsent(key, k -> Optional.ofNullable(make.apply(k))).orElse(null);
      recent.key = key;
    }
    return recent.value;
  }

  /** The recent results of a thread, by the order of their last use, and the last of them. */
  private static final class Recent<K, V> extends LinkedHashMap<K, Optional<V>> {
    private K key;
    private V value;

    Recent() {
      super(SIZE, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, Optional<V>> eldest) {
      return size() > SIZE;
    }
  }
}
