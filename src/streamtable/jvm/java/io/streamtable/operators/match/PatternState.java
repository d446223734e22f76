package io.streamtable.operators.match;

import java.io.Serializable;
import java.util.List;

/**
 * A state of the automaton of a pattern. The state without transitions is the end.
 *
 * @param edges the transitions, in the order in which they are tried
 */
public record PatternState(List<PatternEdge> edges) implements Serializable {
  boolean isEnd() {
    return edges.isEmpty();
  }
}
