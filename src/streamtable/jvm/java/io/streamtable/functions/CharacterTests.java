package io.streamtable.functions;

import org.apache.commons.lang3.StringUtils;
import org.apache.spark.unsafe.types.UTF8String;

/** IS_ALPHA, IS_DECIMAL, IS_DIGIT, which answer for NULL, too, and HASH_CODE. */
public final class CharacterTests {
  private CharacterTests() {}

  /** Whether there is nothing but letters; false for an empty text. */
  public static boolean isAlpha(UTF8String text) {
    return text != null && StringUtils.isAlpha(text.toString());
  }

  /** Whether there is nothing but digits, of any script. */
  public static boolean isDigit(UTF8String text) {
    return text != null && StringUtils.isNumeric(text.toString());
  }

  /** Whether Java reads a number: `1e5`, `NaN` and ` 1d ` are such. */
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

  /** Digits of other scripts are read as integers only. */
  private static boolean isLong(String text) {
    try {
      Long.parseLong(text);
      return true;
    } catch (NumberFormatException none) {
      return false;
    }
  }

  /** Java's hash without its sign. */
  public static int hashCodeOf(UTF8String text) {
    return Math.abs(text.toString().hashCode());
  }
}
