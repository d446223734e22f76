package io.streamtable.lookup;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * The rows of keys that a task has looked up: Flink's partial cache. The least recently used key is
 * removed first. Only one thread uses a cache at a time.
 */
final class LookupCache {
  private final CacheSpec spec;
  private final LinkedHashMap<Object, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);

  LookupCache(CacheSpec spec) {
    this.spec = spec;
  }

  /** Returns the rows of a key, or null if the cache does not have the key. */
  List<InternalRow> get(Object key, long nowMs) {
    Entry found = entries.get(key);
    if (found == null) {
      return null;
    }
    if (expired(found, nowMs)) {
      entries.remove(key);
      return null;
    }
    found.accessed = nowMs;
    return found.rows;
  }

  /** Stores the rows of a key; without rows only if the cache stores missing keys. */
  void put(Object key, List<InternalRow> rows, long nowMs) {
    if (rows.isEmpty() && !spec.missingKeys()) {
      return;
    }
    entries.put(key, new Entry(rows, nowMs));
    if (spec.maxRows() >= 0 && entries.size() > spec.maxRows()) {
      Iterator<Map.Entry<Object, Entry>> oldest = entries.entrySet().iterator();
      oldest.next();
      oldest.remove();
    }
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
