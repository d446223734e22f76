package io.streamtable.functions;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** What a thread has made lately of texts that come again and again; null is kept as well. */
final class Cache<K, V> {
  private static final int SIZE = 64;

  private final ThreadLocal<Map<K, Optional<V>>> made = ThreadLocal.withInitial(Cache::recent);
  private final Function<K, V> make;

  Cache(Function<K, V> make) {
    this.make = make;
  }

  /** What is made of a key; null where nothing is. */
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
