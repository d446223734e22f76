package io.streamtable.codec.csv;

import java.io.Serializable;
import java.util.Map;

/**
 * The special characters of a csv format; 0 means none.
 *
 * @param nullLiteral the text that is read as null; null if there is none
 */
record CsvDialect(
    char delimiter,
    char quote,
    char escape,
    char arrayDelimiter,
    String nullLiteral,
    boolean comments,
    boolean ignoreErrors,
    boolean scientific)
    implements Serializable {

  /**
   * Creates a dialect from parameters named like the components; an empty text means no character.
   */
  static CsvDialect of(Map<String, String> parameters) {
    return new CsvDialect(
        character(parameters, "delimiter"),
        character(parameters, "quote"),
        character(parameters, "escape"),
        character(parameters, "arrayDelimiter"),
        parameters.get("nullLiteral"),
        Boolean.parseBoolean(parameters.get("comments")),
        Boolean.parseBoolean(parameters.get("ignoreErrors")),
        Boolean.parseBoolean(parameters.get("scientific")));
  }

  private static char character(Map<String, String> parameters, String name) {
    String text = parameters.getOrDefault(name, "");
    return text.isEmpty() ? 0 : text.charAt(0);
  }
}
