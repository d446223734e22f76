package io.streamtable.kafka;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How far the queries of one job have come in a table that several of them read, and how far each
 * may go: in no partition further than a number of records beyond where the slowest has committed.
 *
 * <p>A query that may not go on waits. The slowest never does, so one of them always goes on. A query
 * that has stopped holds nobody up; one that has not begun yet holds up all.
 */
public final class Pace {
  private static final Map<String, Pace> ALL = new HashMap<>();
  private static final long LOOK_AGAIN_MS = 1_000;

  private final Set<String> members;
  private final long records;
  private final Map<String, Map<Object, Positions>> reached = new HashMap<>();
  private boolean over;

  private Pace(List<String> members, long records) {
    this.members = new HashSet<>(members);
    this.records = records;
  }

  /**
   * Begins to hold queries together.
   *
   * @param id of the job and the table
   * @param members the queries that read the table
   * @param records by how many one may be ahead in a partition
   */
  public static void begin(String id, List<String> members, long records) {
    synchronized (ALL) {
      ALL.put(id, new Pace(members, records));
    }
  }

  /** Lets no query begin another batch, and forgets them. */
  public static void end(String id) {
    Pace ended;
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

  static Pace of(String id) {
    synchronized (ALL) {
      return ALL.get(id);
    }
  }

  /**
   * Where the next batch of a query may end; waits until that is beyond where it begins, unless there
   * is nothing to read.
   *
   * @param source tells the scans of the query apart
   * @param begin what the query has committed
   * @param end where the batch would end by itself
   */
  synchronized Positions within(String query, Object source, Positions begin, Positions end)
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
      wait(LOOK_AGAIN_MS);
    }
    return begin;
  }

  /** A scan of a query has stopped. */
  synchronized void leave(String query, Object source) {
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

  /** A partition that another query does not know yet has begun for it where it begins here. */
  private Map<String, Long> limits(String query, Positions begin, Positions end) {
    Map<String, Long> limits = new HashMap<>();
    reached.forEach(
        (other, scans) -> {
          if (!other.equals(query)) {
            for (Positions scan : scans.values()) {
              for (String partition : end.partitions()) {
                long there = scan.at(partition, begin.at(partition, 0));
                limits.merge(partition, there + records, Math::min);
              }
            }
          }
        });
    return limits;
  }
}
