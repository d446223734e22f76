package io.streamtable.source;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The positions of a query in the splits of a source: the next offset of each split. */
public record Positions(Map<String, Long> offsets) {
  Set<String> splits() {
    return offsets.keySet();
  }

  public long at(String split, long otherwise) {
    return offsets.getOrDefault(split, otherwise);
  }

  /** Returns these positions, capped at the limits and never before the begin. */
  Positions capped(Positions begin, Map<String, Long> limits) {
    Map<String, Long> capped = new TreeMap<>();
    offsets.forEach(
        (split, end) -> {
          long limit = limits.getOrDefault(split, Long.MAX_VALUE);
          capped.put(split, Math.max(begin.at(split, 0), Math.min(end, limit)));
        });
    return new Positions(capped);
  }

  /** Returns the number of records from these positions to later ones. */
  public long recordsTo(Positions later) {
    return later.offsets.entrySet().stream()
        .mapToLong(end -> Math.max(0, end.getValue() - at(end.getKey(), 0)))
        .sum();
  }

  /**
   * Returns these positions, but not after the ends. A split without an end stays at the begin, and
   * is absent if the begin does not have it.
   */
  public Positions endedAt(Positions begin, Positions ends) {
    Map<String, Long> ended = new TreeMap<>();
    offsets.forEach(
        (split, found) -> {
          if (begin.offsets.containsKey(split) || ends.offsets.containsKey(split)) {
            long end = Math.min(found, ends.at(split, 0));
            ended.put(split, Math.max(begin.at(split, 0), end));
          }
        });
    return new Positions(ended);
  }
}
