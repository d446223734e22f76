package io.streamtable.codec.csv;

import io.streamtable.codec.DecodeException;
import java.util.List;

/**
 * Splits the first line of a text into its fields, as Jackson's csv reader does. Blanks belong to a
 * field unless they follow its closing quote. Text after the line is ignored.
 */
final class CsvLine {
  private final CsvDialect dialect;
  private final String text;
  private final StringBuilder field = new StringBuilder();
  private int at;

  private CsvLine(CsvDialect dialect, String text) {
    this.dialect = dialect;
    this.text = text;
  }

  /** Adds the fields to the list; adds none if the text has no line. */
  static void split(CsvDialect dialect, String text, List<String> into) throws DecodeException {
    CsvLine line = new CsvLine(dialect, text);
    into.clear();
    if (dialect.comments()) {
      line.skipComments();
    }
    if (line.at == text.length()) {
      return;
    }
    boolean more = true;
    while (more) {
      into.add(line.next());
      more = line.at < text.length() && text.charAt(line.at++) == dialect.delimiter();
    }
  }

  /**
   * Skips blanks, blank lines and comments. A field that begins with blanks loses them, as in
   * Jackson.
   */
  private void skipComments() {
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == '#') {
        while (at < text.length() && !isLineEnd(text.charAt(at))) {
          at++;
        }
      } else if (c == ' ' || isLineEnd(c)) {
        at++;
      } else {
        return;
      }
    }
  }

  /** Returns the next field, and moves to its delimiter, its line end or the end of the text. */
  private String next() throws DecodeException {
    field.setLength(0);
    if (dialect.quote() != 0 && at < text.length() && text.charAt(at) == dialect.quote()) {
      quoted();
    } else {
      plain();
    }
    return field.toString();
  }

  private void plain() throws DecodeException {
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == dialect.delimiter() || isLineEnd(c)) {
        return;
      }
      at++;
      field.append(isEscape(c) ? unescaped() : c);
    }
  }

  private void quoted() throws DecodeException {
    at++;
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c == dialect.quote()) {
        if (at == text.length() || text.charAt(at) != c) {
          expectEnd();
          return;
        }
        at++;
        field.append(c);
      } else {
        field.append(isEscape(c) ? unescaped() : c);
      }
    }
    throw new DecodeException("a quote is not closed");
  }

  private void expectEnd() throws DecodeException {
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == dialect.delimiter() || isLineEnd(c)) {
        return;
      }
      if (c > ' ') {
        throw new DecodeException("'" + c + "' follows a closing quote");
      }
      at++;
    }
  }

  private boolean isEscape(char c) {
    return dialect.escape() != 0 && c == dialect.escape();
  }

  private char unescaped() throws DecodeException {
    if (at == text.length()) {
      throw new DecodeException("it ends in an escape character");
    }
    char c = text.charAt(at++);
    return switch (c) {
      case '0' -> '\0';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      default -> c;
    };
  }

  private static boolean isLineEnd(char c) {
    return c == '\n' || c == '\r';
  }
}
