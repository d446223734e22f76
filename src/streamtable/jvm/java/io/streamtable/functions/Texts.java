package io.streamtable.functions;

import java.net.MalformedURLException;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.UnsupportedCharsetException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.lang3.StringUtils;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** String functions that Spark lacks or supports only with constants. */
public final class Texts {
  private static final Cache<URL> URLS = new Cache<>(Texts::url);

  private Texts() {}

  private static UTF8String text(String text) {
    return text == null ? null : UTF8String.fromString(text);
  }

  private static URL url(String text) {
    try {
      return new URL(text);
    } catch (MalformedURLException broken) {
      return null;
    }
  }

  /** Returns a part of a URL. */
  @SqlFunction("STRING")
  public static UTF8String parseUrl(UTF8String url, UTF8String part) {
    URL parsed = URLS.get(url);
    return parsed == null ? null : text(part(parsed, part.toString()));
  }

  /** Returns a parameter of a URL's query, not decoded. */
  public static UTF8String parseUrl(UTF8String url, UTF8String part, UTF8String key) {
    URL parsed = part.toString().equals("QUERY") ? URLS.get(url) : null;
    if (parsed == null || parsed.getQuery() == null) {
      return null;
    }
    Matcher found =
        Pattern.compile("(&|^)" + Pattern.quote(key.toString()) + "=([^&]*)")
            .matcher(parsed.getQuery());
    return found.find() ? text(found.group(2)) : null;
  }

  private static String part(URL url, String name) {
    switch (name) {
      case "HOST":
        return url.getHost();
      case "PATH":
        return url.getPath();
      case "QUERY":
        return url.getQuery();
      case "REF":
        return url.getRef();
      case "PROTOCOL":
        return url.getProtocol();
      case "FILE":
        return url.getFile();
      case "AUTHORITY":
        return url.getAuthority();
      case "USERINFO":
        return url.getUserInfo();
      default:
        return null;
    }
  }

  /**
   * Returns the position of the n-th occurrence from a start position; searches backwards from a
   * negative one.
   */
  @SqlFunction("INT")
  public static int instr(UTF8String in, UTF8String sought, int start, int times) {
    if (times <= 0) {
      throw new IllegalArgumentException("the occurrence that INSTR looks for must be positive");
    }
    if (start == 0) {
      return 0;
    }
    if (start < 0) {
      int back = instr(in.reverse(), sought.reverse(), -start, times);
      return back == 0 ? 0 : in.numChars() + 2 - back - sought.numChars();
    }
    int at = start - 1;
    for (int found = 0; found < times; found++) {
      at = in.indexOf(sought, at) + 1;
      if (at == 0) {
        return 0;
      }
    }
    return at;
  }

  /** Splits a text at a delimiter; an empty delimiter splits between all characters. */
  @SqlFunction("ARRAY<STRING>")
  public static GenericArrayData split(UTF8String whole, UTF8String delimiter) {
    if (whole.numBytes() == 0) {
      return new GenericArrayData(new Object[0]);
    }
    if (delimiter.numBytes() == 0) {
      return new GenericArrayData(
          whole.toString().codePoints().mapToObj(c -> text(Character.toString(c))).toArray());
    }
    String[] pieces = whole.toString().split(Pattern.quote(delimiter.toString()), -1);
    Object[] found = new Object[pieces.length];
    for (int i = 0; i < pieces.length; i++) {
      found[i] = text(pieces[i]);
    }
    return new GenericArrayData(found);
  }

  /** Returns the part with an index, from 0; an empty delimiter means white space. */
  @SqlFunction(value = "STRING", takesNulls = true)
  public static UTF8String splitIndex(UTF8String whole, UTF8String delimiter, int index) {
    if (whole == null || delimiter == null || index < 0) {
      return null;
    }
    if (delimiter.numBytes() == 0) {
      String[] pieces = StringUtils.splitPreserveAllTokens(whole.toString());
      return index < pieces.length ? text(pieces[index]) : null;
    }
    return part(whole, delimiter, index);
  }

  /** Returns the part with an index, from 0. The delimiter is a character code from 1 to 255. */
  public static UTF8String splitIndex(UTF8String whole, int delimiter, int index) {
    if (whole == null || delimiter < 1 || delimiter > 255 || index < 0) {
      return null;
    }
    return part(whole, text(String.valueOf((char) delimiter)), index);
  }

  /** Returns the part with an index; null if there are fewer. An empty text has no parts. */
  private static UTF8String part(UTF8String whole, UTF8String delimiter, int index) {
    int length = whole.numBytes();
    if (length == 0) {
      return null;
    }
    int start = 0;
    int end = delimiterAfter(whole, delimiter, start);
    for (int passed = 0; passed < index; passed++) {
      if (end == length) {
        return null;
      }
      start = end + delimiter.numBytes();
      end = delimiterAfter(whole, delimiter, start);
    }
    byte[] part = new byte[end - start];
    Platform.copyMemory(
        whole.getBaseObject(),
        whole.getBaseOffset() + start,
        part,
        Platform.BYTE_ARRAY_OFFSET,
        part.length);
    return UTF8String.fromBytes(part);
  }

  /** Returns the position of the next delimiter, in bytes; the length of the text if there is none. */
  private static int delimiterAfter(UTF8String whole, UTF8String delimiter, int start) {
    byte first = delimiter.getByte(0);
    int last = whole.numBytes() - delimiter.numBytes();
    for (int at = start; at <= last; at++) {
      if (whole.getByte(at) == first && whole.matchAt(delimiter, at)) {
        return at;
      }
    }
    return whole.numBytes();
  }

  /**
   * Splits keys and values at delimiters that are regular expressions. The last value of a key is
   * used.
   */
  @SqlFunction("MAP<STRING, STRING>")
  public static ArrayBasedMapData strToMap(UTF8String whole, UTF8String pairs, UTF8String inside) {
    Map<UTF8String, UTF8String> found = new LinkedHashMap<>();
    if (whole.numBytes() > 0) {
      for (String pair : whole.toString().split(pairs.toString())) {
        String[] parts = pair.split(inside.toString(), 2);
        found.put(text(parts.length < 2 ? pair : parts[0]), parts.length < 2 ? null : text(parts[1]));
      }
    }
    return new ArrayBasedMapData(
        new GenericArrayData(found.keySet().toArray()),
        new GenericArrayData(found.values().toArray()));
  }

  /** Encodes a text in a charset. Characters that the charset lacks become question marks. */
  @SqlFunction("BINARY")
  public static byte[] encode(UTF8String whole, UTF8String charset) {
    return whole.toString().getBytes(charset(charset));
  }

  /** Decodes bytes in a charset. */
  @SqlFunction("STRING")
  public static UTF8String decode(byte[] bytes, UTF8String charset) {
    return text(charset(charset).decode(ByteBuffer.wrap(bytes)).toString());
  }

  private static Charset charset(UTF8String name) {
    try {
      return Charset.forName(name.toString().trim());
    } catch (IllegalCharsetNameException | UnsupportedCharsetException unknown) {
      throw new IllegalArgumentException("there is no charset '" + name + "'", unknown);
    }
  }
}
