package io.streamtable.functions;

import java.math.BigDecimal;
import java.math.RoundingMode;

/** ROUND and TRUNCATE of a DOUBLE, by the digits that Java prints of it, and of an integer. */
public final class Decimals {
  private Decimals() {}

  /** Rounded half up; what is no finite number fails. */
  public static double roundTo(double value, int places) {
    return moved(value, places, RoundingMode.HALF_UP);
  }

  /** Cut towards zero. */
  public static double truncateTo(double value, int places) {
    return moved(value, places, RoundingMode.DOWN);
  }

  /** An integer rounded half up, to a power of ten where the places are negative. */
  public static long roundWhole(long value, int places) {
    return moved(BigDecimal.valueOf(value), places, RoundingMode.HALF_UP).longValue();
  }

  /** An integer cut towards zero. */
  public static long truncateWhole(long value, int places) {
    return moved(BigDecimal.valueOf(value), places, RoundingMode.DOWN).longValue();
  }

  private static double moved(double value, int places, RoundingMode mode) {
    return moved(BigDecimal.valueOf(value), places, mode).doubleValue();
  }

  private static BigDecimal moved(BigDecimal value, int places, RoundingMode mode) {
    return value.movePointRight(places).setScale(0, mode).movePointLeft(places);
  }
}
