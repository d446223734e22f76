package io.streamtable.operators;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Spans of time that merge where they meet: [1, 3) and [3, 5) are [1, 5), as Flink's windows have
 * it.
 */
final class Sessions {
  /** From its first row's moment to a gap behind its last one's, in milliseconds. */
  record Session(long start, long end) {
    boolean meets(Session other) {
      return start <= other.end && other.start <= end;
    }

    Session with(Session other) {
      return new Session(Math.min(start, other.start), Math.max(end, other.end));
    }
  }

  private Sessions() {}

  /** The spans that any of these make, in order. */
  static List<Session> merged(List<Session> spans) {
    List<Session> sorted = new ArrayList<>(spans);
    sorted.sort(Comparator.comparingLong(Session::start));
    List<Session> merged = new ArrayList<>();
    for (Session span : sorted) {
      int last = merged.size() - 1;
      if (last >= 0 && merged.get(last).meets(span)) {
        merged.set(last, merged.get(last).with(span));
      } else {
        merged.add(span);
      }
    }
    return merged;
  }

  /** The one of disjoint spans in which a moment lies. */
  static Session at(List<Session> sessions, long moment) {
    for (Session session : sessions) {
      if (session.start <= moment && moment < session.end) {
        return session;
      }
    }
    throw new IllegalStateException("a row outside of all sessions");
  }
}
