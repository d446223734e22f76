package io.streamtable.watermarks;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongPredicate;

/**
 * Tracks the watermarks of a scan's splits on the driver.
 *
 * <p>Splits that exist at startup hold the watermark back until they have one. A later split counts
 * from its first record on, even if that record is unread: a split that the batch did not read also
 * holds the watermark back.
 */
final class SplitProgress {
  private final Set<String> first;
  private final Splits splits;
  private final Map<String, Long> tasks = new HashMap<>();

  /** {@link SplitWatermarks#NONE} for a split without a watermark in its records. */
  private final Map<String, Long> settled = new HashMap<>();

  private final Map<String, Long> committed = new HashMap<>();
  private Set<String> unread = Set.of();
  private LongPredicate isCommitted = batch -> true;
  private long newestBatch = -1;

  /**
   * @param known watermarks from earlier runs
   * @param first splits that exist at startup
   * @param splits finds splits that appear later; null if none can appear
   */
  SplitProgress(Map<String, Long> known, Set<String> first, Splits splits) {
    this.first = first;
    this.splits = splits;
    committed.putAll(known);
    // A split that was deleted since then would hold the watermark back forever.
    committed.keySet().retainAll(first);
    settled.putAll(committed);
  }

  /** Counts a task that read records of a split. */
  synchronized void count(String split) {
    tasks.merge(split, 1L, Long::sum);
  }

  /** Begins another execution of the query, which continues from the newest commit. */
  synchronized void begin(LongPredicate isCommitted) {
    commit();
    this.isCommitted = isCommitted;
    newestBatch = -1;
    settled.clear();
    settled.putAll(committed);
    unread = Set.of();
  }

  /** See {@link SplitWatermarks#settle}. */
  void settle(long batch, Map<String, Long> shown, String reached) {
    synchronized (this) {
      if (newestBatch != batch) {
        commit();
      }
      newestBatch = batch;
      shown.forEach((split, watermark) -> settled.merge(split, watermark, Math::max));
      if (splits == null || reached == null || (shown.isEmpty() && unread.isEmpty())) {
        return;
      }
    }
    // Called after the batch has read its last record, so earlier records of other splits are
    // visible.
    Set<String> found = splits.unread(reached);
    synchronized (this) {
      unread = new HashSet<>(found);
      unread.removeAll(first);
      unread.removeAll(settled.keySet());
    }
  }

  synchronized OptionalLong least() {
    Set<String> counting = counting();
    boolean all = counting.stream().allMatch(this::hasWatermark);
    return all ? counting.stream().mapToLong(settled::get).min() : OptionalLong.empty();
  }

  synchronized Map<String, Long> settled() {
    return shown(settled);
  }

  synchronized Map<String, Long> heard() {
    Map<String, Long> found = new HashMap<>();
    counting().forEach(split -> found.put(split, tasks.getOrDefault(split, 0L)));
    unread.forEach(split -> found.put(split, -1L));
    return found;
  }

  synchronized Map<String, Long> committed() {
    if (newestBatch >= 0 && isCommitted.test(newestBatch)) {
      committed.putAll(settled);
      newestBatch = -1;
    }
    return shown(committed);
  }

  void close() {
    if (splits != null) {
      splits.close();
    }
  }

  private void commit() {
    committed();
  }

  private Set<String> counting() {
    Set<String> found = new HashSet<>(first);
    found.addAll(settled.keySet());
    found.addAll(unread);
    return found;
  }

  private boolean hasWatermark(String split) {
    return settled.getOrDefault(split, SplitWatermarks.NONE) != SplitWatermarks.NONE;
  }

  private static Map<String, Long> shown(Map<String, Long> watermarks) {
    Map<String, Long> found = new HashMap<>(watermarks);
    found.values().removeIf(watermark -> watermark == SplitWatermarks.NONE);
    return found;
  }
}
