package io.streamtable.codec.json;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A position in the bytes of a JSON text that advances token by token. It does not advance over
 * tokens that {@link JsonScanner} calls unusual: escapes, exponents, long numbers, deep nesting,
 * and invalid JSON.
 */
final class JsonCursor {
  private static final int MAX_DEPTH = 32;
  /** Maximum digits of a number, so that a long cannot overflow. */
  private static final int MAX_DIGITS = 18;

  /** Eight bytes at once; the first byte is the lowest. */
  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final long ONES = 0x0101010101010101L;
  private static final long HIGHS = ONES * 0x80;
  private static final long QUOTES = ONES * '"';
  private static final long BACKSLASHES = ONES * '\\';

  private byte[] in;
  private int at;

  void begin(byte[] bytes) {
    in = bytes;
    at = 0;
  }

  int position() {
    return at;
  }

  /** Returns the next non-blank byte and advances past it; -1 at the end. */
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

  /** Advances past the rest of a string, including its closing quote. */
  boolean text() {
    byte[] bytes = in;
    int start = at;
    long seen = 0;
    int i = start;
    for (; i + Long.BYTES <= bytes.length; i += Long.BYTES) {
      long word = (long) WORDS.get(bytes, i);
      long special = zeros(word ^ QUOTES) | zeros(word ^ BACKSLASHES) | controls(word);
      if (special != 0) {
        int first = Long.numberOfTrailingZeros(special) / Byte.SIZE;
        seen |= word & ((1L << first * Byte.SIZE) - 1);
        return bytes[i + first] == '"' && end(start, i + first, seen);
      }
      seen |= word;
    }
    for (; i < bytes.length; i++) {
      byte c = bytes[i];
      if (c == '"') {
        return end(start, i, seen);
      }
      if (c == '\\' || c >= 0 && c < ' ') {
        return false;
      }
      seen |= c;
    }
    return false;
  }

  /** Advances past a closing quote, if the bytes before it are valid; `seen` is all bytes or-ed. */
  private boolean end(int start, int quote, long seen) {
    at = quote + 1;
    return (seen & HIGHS) == 0 || isWell(start, quote);
  }

  /** Returns the high bit of each byte that is 0; of bytes above the first such byte, any bits. */
  private static long zeros(long word) {
    return word - ONES & ~word & HIGHS;
  }

  /** Returns the high bit of each byte from 0 to 31; of bytes above the first one, any bits. */
  private static long controls(long word) {
    return word - ONES * ' ' & ~word & HIGHS;
  }

  /**
   * Returns whether bytes are valid UTF-8. Returns false also for a literal replacement character.
   */
  private boolean isWell(int start, int end) {
    return new String(in, start, end - start, StandardCharsets.UTF_8).indexOf('\uFFFD') < 0;
  }

  /** Advances past the rest of a word. */
  boolean rest(String word) {
    for (int i = 0; i < word.length(); i++) {
      if (at >= in.length || in[at++] != word.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** Advances past the rest of an integer. Accepted integers fit into a long. */
  boolean whole(int first) {
    if (first != '-' && (first < '0' || first > '9')) {
      return false;
    }
    int start = first == '-' ? at : at - 1;
    at = start;
    int digits = digits();
    return digits == 1 || digits > 1 && digits <= MAX_DIGITS && in[start] != '0';
  }

  /** Returns the value of an integer from a start position to the current position. */
  long value(int start) {
    boolean negative = in[start] == '-';
    long value = 0;
    for (int i = negative ? start + 1 : start; i < at; i++) {
      value = value * 10 + in[i] - '0';
    }
    return negative ? -value : value;
  }

  /** Advances past the rest of a number. */
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

  /** Advances past a value of any type. */
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
