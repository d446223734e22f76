package io.streamtable.functions;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Converts SQL's SIMILAR TO patterns to Java's: `%` and `_` are wildcards, `[:DIGIT:]` and others
 * are classes of characters, the rest is a regular expression. Patterns that Flink refuses fail.
 */
final class SimilarTo {
  private static final String SPECIAL_IN_SQL = "[]()|^-+*_%?{}";
  private static final String SPECIAL_IN_JAVA = "[]()|^-+*?{}$\\.";
  private static final String CLASS_START = "[:";
  private static final String CLASS_END = ":]";
  private static final Map<String, String> CLASSES =
      Map.of(
          "ALPHA", "\\p{Alpha}",
          "UPPER", "\\p{Upper}",
          "LOWER", "\\p{Lower}",
          "DIGIT", "\\d",
          "SPACE", " ",
          "WHITESPACE", "\\s",
          "ALNUM", "\\p{Alnum}");

  private final String sql;

  /** The escape character, or empty. */
  private final String escape;

  private final StringBuilder java = new StringBuilder();
  private int next;

  private SimilarTo(String escape, String sql) {
    this.escape = escape;
    this.sql = sql;
  }

  /** Compiles a pattern from an escape character (or none), a NUL and the SQL pattern. */
  static Pattern pattern(String escapeAndPattern) {
    int cut = escapeAndPattern.indexOf('\0');
    String escape = escapeAndPattern.substring(0, cut);
    SimilarTo similar = new SimilarTo(escape, escapeAndPattern.substring(cut + 1));
    similar.checkEscape();
    similar.convert();
    return Pattern.compile(similar.java.toString());
  }

  private void checkEscape() {
    if (escape.length() > 1) {
      throw new IllegalArgumentException("the escape of SIMILAR TO must be one character");
    }
    // Flink's rules for escape characters that have another meaning in patterns.
    if (escape.equals(":") && !(sql.contains(CLASS_START) && sql.contains(CLASS_END))) {
      throw broken(0);
    }
    if (!escape.isEmpty() && SPECIAL_IN_SQL.contains(escape)) {
      for (int i = sql.indexOf(escape); i >= 0; i = sql.indexOf(escape, i + 1)) {
        if (i + 1 == sql.length() || SPECIAL_IN_SQL.indexOf(sql.charAt(i + 1)) < 0) {
          throw broken(i);
        }
      }
    }
  }

  private void convert() {
    while (next < sql.length()) {
      char c = sql.charAt(next++);
      if (escape.indexOf(c) >= 0) {
        convertEscaped();
      } else if (c == '_') {
        java.append('.');
      } else if (c == '%') {
        java.append("(?s:.*)");
      } else if (c == '[') {
        java.append(c);
        convertEnumeration();
      } else if (c == ']') {
        throw broken(next - 1);
      } else {
        if (c == '\\' || c == '$') {
          java.append('\\');
        }
        java.append(c);
      }
    }
  }

  private void convertEnumeration() {
    while (next < sql.length()) {
      char c = sql.charAt(next++);
      if (c == ']') {
        java.append(c);
        return;
      } else if (escape.indexOf(c) >= 0) {
        convertEscaped();
      } else if (sql.startsWith(CLASS_START, next - 1)) {
        convertClass();
      } else if (c == '-' || c == '^' || SPECIAL_IN_SQL.indexOf(c) < 0) {
        java.append(c);
      } else {
        throw broken(next - 1);
      }
    }
    throw broken(next);
  }

  private void convertEscaped() {
    char c = next < sql.length() ? sql.charAt(next++) : 0;
    boolean special = SPECIAL_IN_SQL.indexOf(c) >= 0;
    if (!special && escape.indexOf(c) < 0) {
      throw broken(next - 1);
    }
    if (special && SPECIAL_IN_JAVA.indexOf(c) >= 0) {
      java.append('\\');
    }
    java.append(c);
  }

  private void convertClass() {
    int from = next + CLASS_START.length() - 1;
    int to = sql.indexOf(CLASS_END, from);
    String name = to < 0 ? "" : sql.substring(from, to);
    String upper = name.toUpperCase(Locale.ROOT);
    boolean oneCase = name.equals(upper) || name.equals(name.toLowerCase(Locale.ROOT));
    if (!oneCase || !CLASSES.containsKey(upper)) {
      throw broken(next - 1);
    }
    java.append(CLASSES.get(upper));
    next = to + CLASS_END.length();
  }

  private IllegalArgumentException broken(int at) {
    return new IllegalArgumentException(
        String.format("invalid pattern of SIMILAR TO at position %d: %s", at + 1, sql));
  }
}
