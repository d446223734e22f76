package io.streamtable.operators.match;

import java.io.Serializable;
import java.util.List;

/**
 * A transition of the automaton of a pattern.
 *
 * @param take whether the transition consumes the row; if not, the same row is tried on the target
 * @param variable number of the variable that a consumed row belongs to
 * @param target number of the state that it leads to
 * @param holds variables whose conditions must be true
 * @param fails variables whose conditions must not be true
 */
public record PatternEdge(
    boolean take, int variable, int target, List<Integer> holds, List<Integer> fails)
    implements Serializable {}
