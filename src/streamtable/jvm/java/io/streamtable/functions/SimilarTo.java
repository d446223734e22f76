package io.streamtable.functions;

import java.util.regex.Pattern;

/**
 * Converts SQL's SIMILAR TO patterns to Java's: `%` and `_` are wildcards, the rest is a regular
 * expression.
 */
final class SimilarTo {
  private static final String MEANT_LITERALLY = "\\$";

  private SimilarTo() {}

  /** Compiles a pattern from an escape character (or none), a NUL and the SQL pattern. */
  static Pattern pattern(String escapeAndPattern) {
    int cut = escapeAndPattern.indexOf('\0');
    String escape = escapeAndPattern.substring(0, cut);
    String sql = escapeAndPattern.substring(cut + 1);
    StringBuilder java = new StringBuilder();
    boolean inClass = false;
    for (int i = 0; i < sql.length(); i++) {
      char c = sql.charAt(i);
      if (!escape.isEmpty() && c == escape.charAt(0) && i + 1 < sql.length()) {
        java.append(Pattern.quote(String.valueOf(sql.charAt(++i))));
      } else if (inClass) {
        inClass = c != ']';
        java.append(c);
      } else if (c == '%') {
        java.append("(?s:.*)");
      } else if (c == '_') {
        java.append('.');
      } else if (MEANT_LITERALLY.indexOf(c) >= 0) {
        java.append('\\').append(c);
      } else {
        inClass = c == '[';
        java.append(c);
      }
    }
    return Pattern.compile(java.toString());
  }
}
