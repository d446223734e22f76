package io.streamtable.lookup;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The caches of this process between the batches of a query. A task takes the cache of its
 * partition and gives it back at its end. A second attempt of a task that still runs gets a new
 * cache.
 */
final class TaskCaches {
  /** A cache that no task has used for this time belongs to a query that has ended. */
  private static final long FORGET_AFTER_MS = 60 * 60 * 1000;

  private static final Map<Key, Kept> KEPT = new ConcurrentHashMap<>();

  private TaskCaches() {}

  static LookupCache take(String lookup, int partition, CacheSpec spec) {
    Kept kept = KEPT.remove(new Key(lookup, partition));
    return kept == null ? new LookupCache(spec) : kept.cache();
  }

  static void giveBack(String lookup, int partition, LookupCache cache) {
    long now = System.currentTimeMillis();
    KEPT.values().removeIf(kept -> now - kept.since() > FORGET_AFTER_MS);
    KEPT.put(new Key(lookup, partition), new Kept(cache, now));
  }

  private record Key(String lookup, int partition) {}

  private record Kept(LookupCache cache, long since) {}
}
