package io.streamtable.operators.window;

import java.io.Serializable;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;

/**
 * The time zone of window bounds.
 *
 * <p>Where the clock is set back, an hour of local time occurs twice, and a window in it has rows of
 * both hours. It must not fire before the second one has passed.
 */
record WindowZone(ZoneId zone) implements Serializable {
  private static final long HOUR_MS = 3_600_000;

  static WindowZone of(String id) {
    return new WindowZone(ZoneId.of(id));
  }

  /**
   * Returns the watermark at which a window fires, from its end: its last millisecond, for the
   * second time if it occurs twice; the change of the clock if it does not occur. Flink's
   * TimeWindowUtil.toEpochMillsForTimer.
   */
  long last(long end) {
    long moment = instant(end - 1);
    long hourLater = instant(end - 1 + HOUR_MS);
    if (hourLater - moment > HOUR_MS) {
      return moment + HOUR_MS;
    }
    return hourLater == moment ? moment - Math.floorMod(moment, HOUR_MS) : moment;
  }

  /** Returns the event time of a window's results, from its end. */
  long time(long end) {
    return instant(end) - 1;
  }

  private long instant(long local) {
    LocalDateTime time = LocalDateTime.ofInstant(Instant.ofEpochMilli(local), ZoneOffset.UTC);
    return time.atZone(zone).toInstant().toEpochMilli();
  }

  /** Returns whether later ends always have later last milliseconds: no clock change reorders them. */
  boolean keepsOrder() {
    return zone.getRules().isFixedOffset();
  }
}
