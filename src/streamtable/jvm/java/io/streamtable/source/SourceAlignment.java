package io.streamtable.source;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Source alignment: tracks the positions of all queries of one job that read the same table, and
 * limits how far each may read. In each split, no query may read further than a number of
 * records past the committed position of the slowest query.
 *
 * <p>A query at the limit waits. The slowest query never waits, so at least one query always makes
 * progress. A query that has stopped delays no other; a query that has not begun yet delays all.
 */
public final class SourceAlignment {
  private static final Map<String, SourceAlignment> ALL = new HashMap<>();
  private static final long POLL_MS = 1_000;

  private final Set<String> members;
  private final long records;
  private final Map<String, Map<Object, Positions>> reached = new HashMap<>();
  private boolean over;

  private SourceAlignment(List<String> members, long records) {
    this.members = new HashSet<>(members);
    this.records = records;
  }

  /**
   * Begins source alignment of queries.
   *
   * @param id id of the job and the table
   * @param members the queries that read the table
   * @param records maximum lead of a query in a split, in records
   */
  public static void begin(String id, List<String> members, long records) {
    synchronized (ALL) {
      ALL.put(id, new SourceAlignment(members, records));
    }
  }

  /** Ends source alignment: no query begins another batch. */
  public static void end(String id) {
    SourceAlignment ended;
    synchronized (ALL) {
      ended = ALL.remove(id);
    }
    if (ended != null) {
      ended.release();
    }
  }

  private synchronized void release() {
    over = true;
    notifyAll();
  }

  /** Returns the alignment with an id; null if none has begun, or it has ended. */
  public static SourceAlignment of(String id) {
    synchronized (ALL) {
      return ALL.get(id);
    }
  }

  /**
   * Returns where the next batch of a query may end. Waits until that is past the begin of the
   * batch, unless there is nothing to read.
   *
   * @param source identifies the scan within the query
   * @param begin positions that the query has committed
   * @param end positions where the batch would end without alignment
   */
  public synchronized Positions within(String query, Object source, Positions begin, Positions end)
      throws InterruptedException {
    members.add(query);
    reached.computeIfAbsent(query, name -> new HashMap<>()).put(source, begin);
    notifyAll();
    while (!over) {
      if (reached.keySet().containsAll(members)) {
        Positions found = end.capped(begin, limits(query, begin, end));
        if (!found.equals(begin) || end.equals(begin)) {
          return found;
        }
      }
      wait(POLL_MS);
    }
    return begin;
  }

  /** Removes a scan of a query that has stopped. */
  public synchronized void leave(String query, Object source) {
    Map<Object, Positions> own = reached.get(query);
    if (own != null) {
      own.remove(source);
    }
    if (own == null || own.isEmpty()) {
      reached.remove(query);
      members.remove(query);
    }
    notifyAll();
  }

  /**
   * Returns the limits for a query. If another query does not know a split yet, its position
   * there is the begin of this query's batch.
   */
  private Map<String, Long> limits(String query, Positions begin, Positions end) {
    Map<String, Long> limits = new HashMap<>();
    reached.forEach(
        (other, scans) -> {
          if (!other.equals(query)) {
            for (Positions scan : scans.values()) {
              for (String split : end.splits()) {
                long there = scan.at(split, begin.at(split, 0));
                limits.merge(split, there + records, Math::min);
              }
            }
          }
        });
    return limits;
  }
}
