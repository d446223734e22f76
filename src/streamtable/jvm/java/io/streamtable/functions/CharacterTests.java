package io.streamtable.functions;

import org.apache.commons.lang3.StringUtils;
import org.apache.spark.unsafe.types.UTF8String;

/** IS_ALPHA, IS_DECIMAL and IS_DIGIT, which also accept NULL, and HASH_CODE. */
public final class CharacterTests {
  private CharacterTests() {}

  /** Returns whether the text has only letters; false for an empty text. */
  @SqlFunction(value = "BOOLEAN", takesNulls = true)
  public static boolean isAlpha(UTF8String text) {
    return text != null && StringUtils.isAlpha(text.toString());
  }

  /** Returns whether the text has only digits, of any script. */
  @SqlFunction(value = "BOOLEAN", takesNulls = true)
  public static boolean isDigit(UTF8String text) {
    return text != null && StringUtils.isNumeric(text.toString());
  }

  /** Returns whether Java parses the text as a number, for example `1e5`, `NaN` and ` 1d `. */
  @SqlFunction(value = "BOOLEAN", takesNulls = true)
  public static boolean isDecimal(UTF8String text) {
    if (text == null || text.numBytes() == 0) {
      return false;
    }
    try {
      Double.parseDouble(text.toString());
      return true;
    } catch (NumberFormatException none) {
      return isLong(text.toString());
    }
  }

  /** Returns whether the text is an integer. Digits of other scripts are valid only in integers. */
  private static boolean isLong(String text) {
    try {
      Long.parseLong(text);
      return true;
    } catch (NumberFormatException none) {
      return false;
    }
  }

  /** Returns Java's hash without its sign. */
  @SqlFunction("INT")
  public static int hashCodeOf(UTF8String text) {
    return Math.abs(text.toString().hashCode());
  }
}
