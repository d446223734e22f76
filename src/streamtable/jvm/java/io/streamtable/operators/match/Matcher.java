package io.streamtable.operators.match;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;

/**
 * The automaton of a pattern over the rows of one partition.
 *
 * <p>It finds the matches of Flink's NFA, in Flink's order. If several matches have the same first
 * row, the order of the queues decides which one is found. So the queues are Java's, and their
 * elements are visited, added and removed as in Flink. A match waits until no earlier partial match
 * can complete.
 */
final class Matcher {
  /** Receives complete matches. */
  interface Output {
    /** @param moment the time at which the match was found, in milliseconds */
    void add(PartialMatch match, long moment);
  }

  private final MatchPattern pattern;
  private final List<MatchCondition> conditions;
  private final MatchRows rows;
  private final Output output;
  private PriorityQueue<PartialMatch> partial = queue(List.of());
  private final PriorityQueue<PartialMatch> complete;

  Matcher(
      MatchPattern pattern,
      List<MatchCondition> conditions,
      Collection<PartialMatch> partial,
      Collection<PartialMatch> complete,
      MatchRows rows,
      Output output) {
    this.pattern = pattern;
    this.conditions = conditions;
    this.partial = queue(partial);
    this.complete = queue(complete);
    this.rows = rows;
    this.output = output;
    if (partial.isEmpty()) {
      int start = pattern.states().size() - 1;
      int[] none = new int[pattern.variables().size()];
      this.partial.add(new PartialMatch(start, PartialMatch.NONE, 0, none));
    }
  }

  private static PriorityQueue<PartialMatch> queue(Collection<PartialMatch> matches) {
    PriorityQueue<PartialMatch> queue = new PriorityQueue<>(PartialMatch.BY_START);
    matches.forEach(queue::add);
    return queue;
  }

  /** Partial matches in the order of the queue. */
  List<PartialMatch> partial() {
    return new ArrayList<>(partial);
  }

  /** Complete matches that wait for earlier ones, in the order of the queue. */
  List<PartialMatch> complete() {
    return new ArrayList<>(complete);
  }

  /** Returns the time at which the oldest partial match expires; the largest number for never. */
  long expiry() {
    PartialMatch oldest = partial.peek();
    boolean expires = pattern.within() > 0 && oldest != null && !oldest.isEmpty();
    return expires ? oldest.time() + pattern.within() : Long.MAX_VALUE;
  }

  /** Drops partial matches that have taken too long, up to a time in milliseconds. */
  void expire(long moment) {
    for (long next = expiry(); next <= moment; next = expiry()) {
      PriorityQueue<PartialMatch> left = queue(List.of());
      for (PartialMatch match : partial) {
        if (match.isEmpty() || next - match.time() < pattern.within()) {
          left.add(match);
        }
      }
      partial = left;
      release(next);
    }
  }

  /** Processes the newest row. */
  void process(long moment) {
    long row = rows.next() - 1;
    PriorityQueue<PartialMatch> left = queue(List.of());
    PriorityQueue<PartialMatch> found = queue(List.of());
    for (PartialMatch match : partial) {
      Attempt attempt = new Attempt(match);
      for (PatternEdge edge : attempt.taken()) {
        PartialMatch next = match.with(edge.variable(), edge.target(), row, moment);
        (pattern.states().get(edge.target()).isEnd() ? found : left).add(next);
        int end = attempt.end(edge.target());
        if (end >= 0) {
          found.add(next.at(end));
        }
      }
      if (match.isEmpty()) {
        left.add(match);
      }
    }
    partial = left;
    complete.addAll(found);
    release(moment);
  }

  /** Emits the complete matches that no earlier partial match can replace. */
  private void release(long moment) {
    PartialMatch earliest = complete.peek();
    while (earliest != null
        && (partial.isEmpty() || PartialMatch.BY_START.compare(earliest, partial.peek()) <= 0)) {
      complete.poll();
      long skipped = skipped(earliest);
      partial.removeIf(other -> !other.isEmpty() && other.start() <= skipped);
      complete.removeIf(other -> other.start() <= skipped);
      output.add(earliest, moment);
      earliest = complete.peek();
    }
  }

  /** Returns the last row at which no other match may start after a match. */
  private long skipped(PartialMatch match) {
    return switch (pattern.skipTo()) {
      case PAST_LAST_ROW -> match.start() + match.rows() - 1;
      case NEXT_ROW -> match.start();
      case FIRST, LAST -> target(match) - 1;
    };
  }

  private long target(PartialMatch match) {
    int variable = pattern.skipVariable();
    int count = match.counts()[variable];
    String name = pattern.variables().get(variable);
    if (count == 0) {
      throw new IllegalStateException(
          "AFTER MATCH SKIP TO " + name + ": a match has no row of " + name);
    }
    boolean last = pattern.skipTo() == SkipTo.LAST;
    int place = match.before(variable) + (last ? count - 1 : 0);
    if (place == 0) {
      throw new IllegalStateException(
          "AFTER MATCH SKIP TO " + name + ": this is the first row of a match, which would be"
              + " found again");
    }
    return match.start() + place;
  }

  /** The newest row, tried behind the rows of one partial match. */
  private final class Attempt {
    private final PartialMatch match;
    private final Boolean[] known;

    Attempt(PartialMatch match) {
      this.match = match;
      this.known = new Boolean[pattern.variables().size()];
    }

    /** Returns the transitions that consume the row. */
    List<PatternEdge> taken() {
      List<PatternEdge> edges = new ArrayList<>();
      Deque<Integer> states = new ArrayDeque<>(List.of(match.state()));
      while (!states.isEmpty()) {
        for (PatternEdge edge : pattern.states().get(states.pop()).edges()) {
          if (!passes(edge)) {
            continue;
          }
          if (edge.take()) {
            edges.add(edge);
          } else {
            states.push(edge.target());
          }
        }
      }
      return edges;
    }

    /** Returns the end, if a state leads there without another row; else -1. */
    int end(int state) {
      Deque<Integer> states = new ArrayDeque<>(List.of(state));
      while (!states.isEmpty()) {
        for (PatternEdge edge : pattern.states().get(states.pop()).edges()) {
          if (!edge.take() && passes(edge)) {
            if (pattern.states().get(edge.target()).isEnd()) {
              return edge.target();
            }
            states.push(edge.target());
          }
        }
      }
      return -1;
    }

    private boolean passes(PatternEdge edge) {
      return edge.holds().stream().allMatch(this::holds)
          && edge.fails().stream().noneMatch(this::holds);
    }

    private boolean holds(int variable) {
      if (known[variable] == null) {
        known[variable] = conditions.get(variable).holds(match, variable, rows);
      }
      return known[variable];
    }
  }
}
