package io.streamtable.functions;

/** Writes and reads the escapes of JSON strings for JSON_QUOTE and JSON_UNQUOTE. */
final class JsonStrings {
  private static final String ESCAPED = "\"\\/\b\f\n\r\t";
  private static final String LETTERS = "\"\\/bfnrt";
  private static final int LAST_ASCII = 127;
  private static final int HEX_DIGITS = 4;

  private JsonStrings() {}

  static String quote(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      int known = ESCAPED.indexOf(c);
      if (known >= 0) {
        quoted.append('\\').append(LETTERS.charAt(known));
      } else if (c > LAST_ASCII) {
        // Beyond 16 bits, Flink writes the whole code point, and then the second surrogate again.
        quoted.append(String.format("\\u%04x", text.codePointAt(i)));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }

  /** Removes the first and last character, whatever they are, and resolves the escapes. */
  static String unquote(String json) {
    StringBuilder plain = new StringBuilder();
    for (int i = 1; i < json.length() - 1; i++) {
      char c = json.charAt(i);
      if (c != '\\') {
        plain.append(c);
        continue;
      }
      char letter = json.charAt(++i);
      int known = LETTERS.indexOf(letter);
      if (known >= 0) {
        plain.append(ESCAPED.charAt(known));
      } else if (letter == 'u') {
        plain.append((char) Integer.parseInt(json.substring(i + 1, i + 1 + HEX_DIGITS), 16));
        i += HEX_DIGITS;
      } else {
        throw new IllegalArgumentException("JSON_UNQUOTE knows no escape \\" + letter);
      }
    }
    return plain.toString();
  }
}
