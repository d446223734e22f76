package io.streamtable.functions;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** A per-thread cache of recent results for repeated texts. Null results are cached too. */
final class Cache<K, V> {
  private static final int SIZE = 64;

  private final ThreadLocal<Map<K, Optional<V>>> made = ThreadLocal.withInitial(Cache::recent);
  private final Function<K, V> make;

  Cache(Function<K, V> make) {
    this.make = make;
  }

  /** Returns the result for a key; null if there is none. */
  V get(K key) {
    return made.get().computeIfAbsent(key, k -> Optional.ofNullable(make.apply(k))).orElse(null);
  }

  private static <K, V> Map<K, Optional<V>> recent() {
    return new LinkedHashMap<>(SIZE, 0.75f, true) {
      @Override
      protected boolean removeEldestEntry(Map.Entry<K, Optional<V>> eldest) {
        return size() > SIZE;
      }
    };
  }
}
