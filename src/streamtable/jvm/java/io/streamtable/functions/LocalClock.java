package io.streamtable.functions;

import java.time.Instant;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The clock of a time zone. It remembers the time between two of its changes that had the last
 * moment: the calendar of java.time costs more than the rest of a row's conversion.
 */
public final class LocalClock {
  private static final long SECOND = 1_000_000;
  private static final Cache<LocalClock> CLOCKS =
      new Cache<>(id -> new LocalClock(ZoneId.of(id).getRules()));

  private final ZoneRules rules;
  /** Moments in microseconds, from (inclusive) and until, that have an offset. */
  private long from;
  private long until;
  private long offset;

  private LocalClock(ZoneRules rules) {
    this.rules = rules;
  }

  /** Returns the local time of a moment, both in microseconds. A clock serves one thread. */
  public static long local(long micros, UTF8String zone) {
    LocalClock clock = CLOCKS.get(zone);
    if (micros < clock.from || micros >= clock.until) {
      clock.moveTo(micros);
    }
    return Math.addExact(micros, clock.offset);
  }

  private void moveTo(long micros) {
    Instant second = Instant.ofEpochSecond(Math.floorDiv(micros, SECOND));
    ZoneOffsetTransition after = rules.nextTransition(second);
    // Changes of the clock are at whole seconds.
    ZoneOffsetTransition before = rules.previousTransition(second.plusNanos(1));
    from = before == null ? Long.MIN_VALUE : micros(before);
    until = after == null ? Long.MAX_VALUE : micros(after);
    offset = rules.getOffset(second).getTotalSeconds() * SECOND;
  }

  private static long micros(ZoneOffsetTransition change) {
    return Math.multiplyExact(change.toEpochSecond(), SECOND);
  }
}
