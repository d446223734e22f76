package io.streamtable.operators.match;

import java.io.Serializable;
import java.util.List;

/**
 * A compiled pattern.
 *
 * @param variables names of the variables, in the order of the pattern
 * @param states states of the automaton; the last one is the start
 * @param skipTo where the search continues after a match
 * @param skipVariable number of the variable of FIRST and LAST; -1 for none
 * @param within how long a match may take, in milliseconds; 0 for no limit
 */
public record MatchPattern(
    List<String> variables, List<PatternState> states, SkipTo skipTo, int skipVariable, long within)
    implements Serializable {}
