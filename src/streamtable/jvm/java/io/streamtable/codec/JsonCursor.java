package io.streamtable.codec;

import java.nio.charset.StandardCharsets;

/**
 * A place in the bytes of a JSON text that goes over one token after the other. What {@link
 * JsonScanner} calls unusual it does not go over: escapes, exponents, long numbers, deep nesting,
 * and whatever is not JSON.
 */
final class JsonCursor {
  private static final int MAX_DEPTH = 32;
  /** Of a number; with so many a long cannot overflow. */
  private static final int MAX_DIGITS = 18;

  private byte[] in;
  private int at;

  void begin(byte[] bytes) {
    in = bytes;
    at = 0;
  }

  int position() {
    return at;
  }

  /** The next byte that is no blank, passed; -1 at the end. */
  int next() {
    while (at < in.length) {
      int c = in[at++];
      if (c > ' ' || c < 0) {
        return c & 0xFF;
      }
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
        return -1;
      }
    }
    return -1;
  }

  /** Passes the rest of a text, its closing quote included. */
  boolean text() {
    byte[] bytes = in;
    int start = at;
    boolean ascii = true;
    for (int i = start; i < bytes.length; i++) {
      byte c = bytes[i];
      if (c == '"') {
        at = i + 1;
        return ascii || isWell(start, i);
      }
      if (c == '\\' || c >= 0 && c < ' ') {
        return false;
      }
      ascii &= c >= 0;
    }
    return false;
  }

  /** Whether bytes are UTF-8; a replacement character that was written as such counts as not. */
  private boolean isWell(int start, int end) {
    return new String(in, start, end - start, StandardCharsets.UTF_8).indexOf('\uFFFD') < 0;
  }

  /** Passes the rest of a word. */
  boolean rest(String word) {
    for (int i = 0; i < word.length(); i++) {
      if (at >= in.length || in[at++] != word.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** Passes the rest of a whole number; the numbers that it takes fit into a long. */
  boolean whole(int first) {
    if (first != '-' && (first < '0' || first > '9')) {
      return false;
    }
    int start = first == '-' ? at : at - 1;
    at = start;
    int digits = digits();
    return digits == 1 || digits > 1 && digits <= MAX_DIGITS && in[start] != '0';
  }

  /** The value of a whole number that began there and ends here. */
  long value(int start) {
    boolean negative = in[start] == '-';
    long value = 0;
    for (int i = negative ? start + 1 : start; i < at; i++) {
      value = value * 10 + in[i] - '0';
    }
    return negative ? -value : value;
  }

  /** Passes the rest of a number. */
  boolean number(int first) {
    if (!whole(first)) {
      return false;
    }
    if (at < in.length && in[at] == '.') {
      at++;
      int digits = digits();
      return digits > 0 && digits <= MAX_DIGITS;
    }
    return true;
  }

  private int digits() {
    int start = at;
    while (at < in.length && in[at] >= '0' && in[at] <= '9') {
      at++;
    }
    return at - start;
  }

  /** Passes a value of any kind. */
  boolean skip() {
    return skip(next(), MAX_DEPTH);
  }

  private boolean skip(int first, int depth) {
    switch (first) {
      case '"':
        return text();
      case '{':
        return depth > 0 && members(depth - 1);
      case '[':
        return depth > 0 && elements(depth - 1);
      case 't':
        return rest("rue");
      case 'f':
        return rest("alse");
      case 'n':
        return rest("ull");
      default:
        return number(first);
    }
  }

  private boolean members(int depth) {
    int c = next();
    if (c == '}') {
      return true;
    }
    while (c == '"' && text() && next() == ':' && skip(next(), depth)) {
      c = next();
      if (c != ',') {
        return c == '}';
      }
      c = next();
    }
    return false;
  }

  private boolean elements(int depth) {
    int c = next();
    if (c == ']') {
      return true;
    }
    while (skip(c, depth)) {
      c = next();
      if (c != ',') {
        return c == ']';
      }
      c = next();
    }
    return false;
  }
}
