package io.streamtable.operators.window;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Merges adjacent and overlapping time spans: [1, 3) and [3, 5) become [1, 5), as in Flink's
 * windows.
 */
final class Sessions {
  /**
   * A session from its first row's event time to its last row's event time plus the gap, in
   * milliseconds.
   */
  record Session(long start, long end) {
    boolean meets(Session other) {
      return start <= other.end && other.start <= end;
    }

    Session with(Session other) {
      return new Session(Math.min(start, other.start), Math.max(end, other.end));
    }
  }

  private Sessions() {}

  /** Returns the merged spans, in order. */
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
}
