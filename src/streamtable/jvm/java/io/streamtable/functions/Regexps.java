package io.streamtable.functions;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/** Regular expressions by Flink's rules: a broken one gives NULL, a group left out is NULL. */
public final class Regexps {
  private static final Cache<String, Pattern> PATTERNS = new Cache<>(Regexps::compiled);
  private static final Cache<String, Pattern> SIMILAR = new Cache<>(SimilarTo::pattern);

  private Regexps() {}

  private static Pattern compiled(String regex) {
    try {
      return Pattern.compile(regex);
    } catch (PatternSyntaxException broken) {
      return null;
    }
  }

  private static Matcher matcher(UTF8String text, UTF8String regex) {
    Pattern pattern = PATTERNS.get(regex.toString());
    return pattern == null ? null : pattern.matcher(text.toString());
  }

  private static UTF8String texts(String text) {
    return text == null ? null : UTF8String.fromString(text);
  }

  /** A group of the first match. */
  public static UTF8String regexpExtract(UTF8String text, UTF8String regex, int group) {
    Matcher matcher = matcher(text, regex);
    if (matcher == null || group < 0 || group > matcher.groupCount() || !matcher.find()) {
      return null;
    }
    return texts(matcher.group(group));
  }

  /** A group of every match. */
  public static GenericArrayData regexpExtractAll(UTF8String text, UTF8String regex, int group) {
    Matcher matcher = matcher(text, regex);
    if (matcher == null || group < 0 || group > matcher.groupCount()) {
      return null;
    }
    List<UTF8String> found = new ArrayList<>();
    while (matcher.find()) {
      found.add(texts(matcher.group(group)));
    }
    return new GenericArrayData(found.toArray());
  }

  /** Whether any part matches; an empty expression and a broken one match nothing. */
  public static boolean regexpMatches(UTF8String text, UTF8String regex) {
    Matcher matcher = regex.numBytes() == 0 ? null : matcher(text, regex);
    return matcher != null && matcher.find();
  }

  /** Every match replaced by a text that stands for itself. */
  public static UTF8String regexpReplace(UTF8String text, UTF8String regex, UTF8String by) {
    Matcher matcher = matcher(text, regex);
    if (matcher == null) {
      return null;
    }
    return texts(matcher.replaceAll(Matcher.quoteReplacement(by.toString())));
  }

  /** The number of matches. */
  public static Integer regexpCount(UTF8String text, UTF8String regex) {
    Matcher matcher = matcher(text, regex);
    return matcher == null ? null : (Integer) (int) matcher.results().count();
  }

  /** Where the first match begins, from 1; 0 if nowhere. */
  public static Integer regexpInstr(UTF8String text, UTF8String regex) {
    Matcher matcher = matcher(text, regex);
    if (matcher == null) {
      return null;
    }
    return matcher.find() ? matcher.start() + 1 : 0;
  }

  /** The first match. */
  public static UTF8String regexpSubstr(UTF8String text, UTF8String regex) {
    return regexpExtract(text, regex, 0);
  }

  /** SQL's SIMILAR TO; `escape` is one character or none. */
  public static boolean similar(UTF8String text, UTF8String pattern, UTF8String escape) {
    Pattern java = SIMILAR.get(escape.toString() + '\0' + pattern);
    return java.matcher(text.toString()).matches();
  }
}
