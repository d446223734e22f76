package io.streamtable.operators.match;

import java.io.Serializable;
import java.util.List;

/**
 * What DEFINE says of a variable; nothing if there is neither a column nor a text.
 *
 * @param column position of the BOOLEAN column with the condition; below 0 if it depends on other
 *     rows than the newest
 * @param text Spark SQL over the values; null for none
 * @param values the values that the text reads
 * @param valuesDdl names and types of the values
 */
public record MatchDefinition(
    int column, String text, List<MatchValue> values, String valuesDdl) implements Serializable {}
