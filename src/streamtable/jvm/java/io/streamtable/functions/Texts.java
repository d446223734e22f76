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
import org.apache.spark.unsafe.types.UTF8String;

/** String functions that Spark has not, or only with constants. */
public final class Texts {
  private static final Cache<String, URL> URLS = new Cache<>(Texts::url);

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

  /** A part of a URL. */
  public static UTF8String parseUrl(UTF8String url, UTF8String part) {
    URL parsed = URLS.get(url.toString());
    return parsed == null ? null : text(part(parsed, part.toString()));
  }

  /** A parameter of a URL's query, not decoded. */
  public static UTF8String parseUrl(UTF8String url, UTF8String part, UTF8String key) {
    URL parsed = part.toString().equals("QUERY") ? URLS.get(url.toString()) : null;
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

  /** Where a text stands the n-th time, from a position on; backwards from a negative one. */
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

  /** The pieces between delimiters; an empty delimiter cuts between all characters. */
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

  /** The piece of a number, from 0; an empty delimiter stands for white space. */
  public static UTF8String splitIndex(UTF8String whole, UTF8String delimiter, int index) {
    if (whole == null || delimiter == null || index < 0) {
      return null;
    }
    String by = delimiter.toString();
    String[] pieces = StringUtils.splitByWholeSeparatorPreserveAllTokens(whole.toString(), by);
    return index < pieces.length ? text(pieces[index]) : null;
  }

  /** The same with the code of a character from 1 to 255. */
  public static UTF8String splitIndex(UTF8String whole, int delimiter, int index) {
    if (whole == null || delimiter < 1 || delimiter > 255 || index < 0) {
      return null;
    }
    String[] pieces = StringUtils.splitPreserveAllTokens(whole.toString(), (char) delimiter);
    return index < pieces.length ? text(pieces[index]) : null;
  }

  /** Keys and values between delimiters that are regular expressions; the last of a key wins. */
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

  /** A text's bytes in a charset; what the charset lacks becomes a question mark. */
  public static byte[] encode(UTF8String whole, UTF8String charset) {
    return whole.toString().getBytes(charset(charset));
  }

  /** The text that bytes hold in a charset. */
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
