package io.streamtable.functions;

import java.io.Serializable;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneRules;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The time zone of window bounds.
 *
 * <p>Where the clock is set back, an hour of local time occurs twice, and a window in it has rows of
 * both hours. It must not fire before the second one has passed.
 */
public final class WindowZone implements Serializable {
  private static final long HOUR_MS = 3_600_000;
  private static final Cache<WindowZone> ZONES = new Cache<>(WindowZone::of);

  private record Window(long end, long last) {}

  private final ZoneRules rules;
  private final boolean fixed;
  private final long offsetMs;
  /** The last window that was asked for: many rows follow each other in a window. */
  private transient Window recent;

  private WindowZone(ZoneRules rules) {
    this.rules = rules;
    this.fixed = rules.isFixedOffset();
    this.offsetMs = rules.getOffset(Instant.EPOCH).getTotalSeconds() * 1000L;
  }

  public static WindowZone of(String id) {
    return new WindowZone(ZoneId.of(id).getRules());
  }

  /**
   * Returns the watermark at which a window fires, from its end in a time zone: SQL's {@link #last}.
   */
  @SqlFunction("BIGINT")
  public static long windowLast(long end, UTF8String zone) {
    return ZONES.get(zone).last(end);
  }

  /**
   * Returns the watermark at which a window fires, from its end: its last millisecond, for the
   * second time if it occurs twice; the change of the clock if it does not occur. Flink's
   * TimeWindowUtil.toEpochMillsForTimer.
   */
  public long last(long end) {
    if (fixed) {
      return instant(end - 1);
    }
    Window window = recent;
    if (window == null || window.end != end) {
      window = new Window(end, lastOf(end));
      recent = window;
    }
    return window.last;
  }

  private long lastOf(long end) {
    long moment = instant(end - 1);
    long hourLater = instant(end - 1 + HOUR_MS);
    if (hourLater - moment > HOUR_MS) {
      return moment + HOUR_MS;
    }
    return hourLater == moment ? moment - Math.floorMod(moment, HOUR_MS) : moment;
  }

  /** Returns the event time of a window's results, from its end. */
  public long time(long end) {
    return instant(end) - 1;
  }

  private long instant(long local) {
    if (fixed) {
      return local - offsetMs;
    }
    LocalDateTime time = LocalDateTime.ofInstant(Instant.ofEpochMilli(local), ZoneOffset.UTC);
    return local - rules.getOffset(time).getTotalSeconds() * 1000L;
  }

  /** Returns whether later ends always have later last milliseconds: no clock change reorders them. */
  public boolean keepsOrder() {
    return fixed;
  }
}
