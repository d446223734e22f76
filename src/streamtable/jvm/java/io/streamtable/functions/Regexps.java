package io.streamtable.functions;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Regular expressions with Flink's rules: an invalid expression gives NULL, and a group that does
 * not take part is NULL.
 */
public final class Regexps {
  private static final Cache<Pattern> PATTERNS = new Cache<>(Regexps::compiled);
  private static final Cache<Pattern> SIMILAR = new Cache<>(SimilarTo::pattern);
  private static final UTF8String NUL = UTF8String.fromString("\0");

  /**
   * The last search of the thread. A query often asks for a match in WHERE and again in SELECT, or
   * for several groups of it.
   */
  private static final ThreadLocal<Search> LAST = ThreadLocal.withInitial(Search::new);

  private Regexps() {}

  private static Pattern compiled(String regex) {
    try {
      return Pattern.compile(regex);
    } catch (PatternSyntaxException broken) {
      return null;
    }
  }

  private static Matcher matcher(UTF8String text, UTF8String regex) {
    Pattern pattern = PATTERNS.get(regex);
    return pattern == null ? null : pattern.matcher(text.toString());
  }

  private static UTF8String texts(String text) {
    return text == null ? null : UTF8String.fromString(text);
  }

  /** The first match of a pattern in a text. */
  private static final class Search {
    private UTF8String text;
    private Pattern pattern;
    private Matcher matcher;
    private boolean found;
  }

  /** Searches the first match; returns null for an invalid expression. */
  private static Search search(UTF8String text, UTF8String regex) {
    Pattern pattern = PATTERNS.get(regex);
    if (pattern == null) {
      return null;
    }
    Search last = LAST.get();
    if (pattern != last.pattern || !text.equals(last.text)) {
      last.text = null; // a search may fail, for example by a stack overflow
      last.pattern = pattern;
      last.matcher = pattern.matcher(text.toString());
      last.found = last.matcher.find();
      // The bytes of a column change with the next row.
      last.text = text.copy();
    }
    return last;
  }

  /** Returns a group of the first match. */
  @SqlFunction("STRING")
  public static UTF8String regexpExtract(UTF8String text, UTF8String regex, int group) {
    Search search = search(text, regex);
    if (search == null || group < 0 || group > search.matcher.groupCount() || !search.found) {
      return null;
    }
    return texts(search.matcher.group(group));
  }

  /** Returns a group of every match. */
  @SqlFunction("ARRAY<STRING>")
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

  /** Returns whether any part matches. An empty or invalid expression matches nothing. */
  @SqlFunction("BOOLEAN")
  public static boolean regexpMatches(UTF8String text, UTF8String regex) {
    Search search = regex.numBytes() == 0 ? null : search(text, regex);
    return search != null && search.found;
  }

  /** Replaces every match with a literal text. */
  @SqlFunction("STRING")
  public static UTF8String regexpReplace(UTF8String text, UTF8String regex, UTF8String by) {
    Matcher matcher = matcher(text, regex);
    if (matcher == null) {
      return null;
    }
    return texts(matcher.replaceAll(Matcher.quoteReplacement(by.toString())));
  }

  /** Returns the number of matches. */
  @SqlFunction("INT")
  public static Integer regexpCount(UTF8String text, UTF8String regex) {
    Matcher matcher = matcher(text, regex);
    return matcher == null ? null : (Integer) (int) matcher.results().count();
  }

  /** Returns the position of the first match, from 1; 0 if there is none. */
  @SqlFunction("INT")
  public static Integer regexpInstr(UTF8String text, UTF8String regex) {
    Search search = search(text, regex);
    if (search == null) {
      return null;
    }
    return search.found ? search.matcher.start() + 1 : 0;
  }

  /** Returns the first match. */
  @SqlFunction("STRING")
  public static UTF8String regexpSubstr(UTF8String text, UTF8String regex) {
    return regexpExtract(text, regex, 0);
  }

  /** Evaluates SQL's SIMILAR TO; `escape` is one character or empty. */
  @SqlFunction("BOOLEAN")
  public static boolean similar(UTF8String text, UTF8String pattern, UTF8String escape) {
    Pattern java = SIMILAR.get(UTF8String.concat(escape, NUL, pattern));
    return java.matcher(text.toString()).matches();
  }
}
