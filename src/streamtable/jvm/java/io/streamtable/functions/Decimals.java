package io.streamtable.functions;

import java.math.BigDecimal;
import java.math.RoundingMode;

/** ROUND and TRUNCATE of a DOUBLE, based on the digits that Java prints, and of an integer. */
public final class Decimals {
  private Decimals() {}

  /** Rounds half up. Fails if the number is not finite. */
  @SqlFunction("DOUBLE")
  public static double roundTo(double value, int places) {
    return moved(value, places, RoundingMode.HALF_UP);
  }

  /** Truncates towards zero. */
  @SqlFunction("DOUBLE")
  public static double truncateTo(double value, int places) {
    return moved(value, places, RoundingMode.DOWN);
  }

  /** Rounds an integer half up, to a power of ten if the number of places is negative. */
  @SqlFunction("BIGINT")
  public static long roundWhole(long value, int places) {
    return moved(BigDecimal.valueOf(value), places, RoundingMode.HALF_UP).longValue();
  }

  /** Truncates an integer towards zero. */
  @SqlFunction("BIGINT")
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
