package io.streamtable.codec;

import java.io.Serializable;
import java.util.Map;

/**
 * The characters of a csv format; 0 stands for one that is not there.
 *
 * @param nullLiteral what a null reads as; null where no text does
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

  /** Parameters are named as the components; a character that is not there is the empty text. */
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
