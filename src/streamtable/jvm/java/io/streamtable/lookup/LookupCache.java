package io.streamtable.lookup;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * The rows of keys that a task has looked up: Flink's partial cache. The least recently used key is
 * removed first. Every call removes the expired keys. Only one thread uses a cache at a time.
 */
final class LookupCache {
  private final CacheSpec spec;
  /** The keys in the order of their last use. */
  private final LinkedHashMap<Object, Entry> used = new LinkedHashMap<>(16, 0.75f, true);
  /** The same keys in the order in which they were stored. */
  private final LinkedHashMap<Object, Entry> stored = new LinkedHashMap<>();

  LookupCache(CacheSpec spec) {
    this.spec = spec;
  }

  /** Returns the rows of a key, or null if the cache does not have the key. */
  List<InternalRow> get(Object key, long nowMs) {
    removeExpired(nowMs);
    Entry found = used.get(key);
    if (found == null) {
      return null;
    }
    found.accessed = nowMs;
    return found.rows;
  }

  /** Stores the rows of a key; without rows only if the cache stores missing keys. */
  void put(Object key, List<InternalRow> rows, long nowMs) {
    removeExpired(nowMs);
    if (rows.isEmpty() && !spec.missingKeys()) {
      return;
    }
    Entry entry = new Entry(rows, nowMs);
    used.put(key, entry);
    stored.remove(key);
    stored.put(key, entry);
    if (spec.maxRows() >= 0 && used.size() > spec.maxRows()) {
      removeFirst(used, stored);
    }
  }

  private void removeExpired(long nowMs) {
    if (spec.afterWriteMs() >= 0) {
      removeExpired(stored, used, nowMs);
    }
    if (spec.afterAccessMs() >= 0) {
      removeExpired(used, stored, nowMs);
    }
  }

  /** Removes expired entries; the first one in the order of a limit is the first to reach it. */
  private void removeExpired(Map<Object, Entry> ordered, Map<Object, Entry> other, long nowMs) {
    while (!ordered.isEmpty() && expired(ordered.values().iterator().next(), nowMs)) {
      removeFirst(ordered, other);
    }
  }

  private static void removeFirst(Map<Object, Entry> ordered, Map<Object, Entry> other) {
    Iterator<Object> keys = ordered.keySet().iterator();
    other.remove(keys.next());
    keys.remove();
  }

  private boolean expired(Entry entry, long nowMs) {
    return (spec.afterWriteMs() >= 0 && nowMs - entry.written >= spec.afterWriteMs())
        || (spec.afterAccessMs() >= 0 && nowMs - entry.accessed >= spec.afterAccessMs());
  }

  private static final class Entry {
    private final List<InternalRow> rows;
    private final long written;
    private long accessed;

    Entry(List<InternalRow> rows, long nowMs) {
      this.rows = rows;
      this.written = nowMs;
      this.accessed = nowMs;
    }
  }
}
