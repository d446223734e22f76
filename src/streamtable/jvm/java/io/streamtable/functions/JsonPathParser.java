package io.streamtable.functions;

import io.streamtable.functions.JsonPath.PathException;
import io.streamtable.functions.JsonPath.Step;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Reads a JSON path. */
final class JsonPathParser {
  private final String text;
  private int at;

  private JsonPathParser(String text) {
    this.text = text;
  }

  /**
   * A path; one that does not begin with `$` is read as if it began with `$.`.
   *
   * @throws PathException where it is none
   * @throws UnsupportedOperationException for a filter or a function
   */
  static JsonPath parse(String path) {
    String trimmed = path.trim();
    if (trimmed.isEmpty()) {
      throw new PathException("a JSON path cannot be empty");
    }
    if (trimmed.contains("?") || trimmed.contains("(")) {
      throw new UnsupportedOperationException(
          "filters and functions in a JSON path are not there yet: " + path);
    }
    if (trimmed.charAt(0) != '$') {
      trimmed = "$." + trimmed;
    }
    return new JsonPathParser(trimmed).path();
  }

  private JsonPath path() {
    List<Step> steps = new ArrayList<>();
    at = 1;
    while (at < text.length()) {
      if (text.startsWith("..", at)) {
        steps.add(new JsonPath.Descend());
        at += 2;
        steps.add(peek() == '[' ? bracket() : name());
      } else if (text.charAt(at) == '.') {
        at++;
        steps.add(peek() == '[' ? bracket() : name());
      } else if (text.charAt(at) == '[') {
        steps.add(bracket());
      } else {
        throw broken("'.' or '['");
      }
    }
    return new JsonPath(steps);
  }

  private char peek() {
    return at < text.length() ? text.charAt(at) : '\0';
  }

  private PathException broken(String expected) {
    return new PathException(
        "the JSON path " + text + " is broken at position " + at + ": expected " + expected);
  }

  private Step name() {
    int start = at;
    if (peek() == '*') {
      at++;
      return new JsonPath.Wildcard();
    }
    while (at < text.length() && ".[".indexOf(text.charAt(at)) < 0) {
      if (text.charAt(at) == ' ') {
        throw broken("a name in brackets and quotes, as it has a blank");
      }
      at++;
    }
    if (at == start) {
      throw broken("a name");
    }
    return new JsonPath.Names(List.of(text.substring(start, at)), true);
  }

  private Step bracket() {
    at++;
    blanks();
    if (peek() == '\'' || peek() == '"') {
      return names();
    }
    int end = text.indexOf(']', at);
    if (end < 0) {
      throw broken("']'");
    }
    String inside = text.substring(at, end).trim();
    if (inside.equals("*")) {
      at = end + 1;
      return new JsonPath.Wildcard();
    }
    if (!inside.matches("-?\\d+(\\s*,\\s*-?\\d+)*|(-?\\d+)?\\s*:\\s*-?\\d+|-?\\d+\\s*:")) {
      throw broken("a name in quotes, an index, a slice or *");
    }
    at = end + 1;
    int colon = inside.indexOf(':');
    if (colon >= 0) {
      return new JsonPath.Slice(
          number(inside.substring(0, colon)), number(inside.substring(colon + 1)));
    }
    return new JsonPath.Indexes(
        Arrays.stream(inside.split(",")).map(JsonPathParser::number).collect(Collectors.toList()));
  }

  private static Integer number(String digits) {
    try {
      return digits.isBlank() ? null : Integer.valueOf(digits.trim());
    } catch (NumberFormatException tooLong) {
      throw new PathException("an index of a JSON path is too large: " + digits);
    }
  }

  private Step names() {
    List<String> names = new ArrayList<>();
    do {
      blanks();
      names.add(quoted());
      blanks();
    } while (comma());
    if (peek() != ']') {
      throw broken("']'");
    }
    at++;
    return new JsonPath.Names(names, at == text.length());
  }

  private boolean comma() {
    boolean found = peek() == ',';
    at += found ? 1 : 0;
    return found;
  }

  private void blanks() {
    while (peek() == ' ') {
      at++;
    }
  }

  private String quoted() {
    char quote = peek();
    if (quote != '\'' && quote != '"') {
      throw broken("a name in quotes");
    }
    StringBuilder name = new StringBuilder();
    for (at++; at < text.length() && text.charAt(at) != quote; at++) {
      if (text.charAt(at) == '\\' && at + 1 < text.length()) {
        at++;
      }
      name.append(text.charAt(at));
    }
    if (at >= text.length()) {
      throw broken("the closing quote");
    }
    at++;
    return name.toString();
  }
}
