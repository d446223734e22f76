package io.streamtable.operators.window;

import java.io.Serializable;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** The time zone of window bounds. */
record WindowZone(ZoneId zone) implements Serializable {
  static WindowZone of(String id) {
    return new WindowZone(ZoneId.of(id));
  }

  /** Returns the last millisecond before a window's end, comparable with the watermark. */
  long last(long end) {
    LocalDateTime local = LocalDateTime.ofInstant(Instant.ofEpochMilli(end), ZoneOffset.UTC);
    return local.atZone(zone).toInstant().toEpochMilli() - 1;
  }

  /** Returns whether later ends always have later last milliseconds: no clock change reorders them. */
  boolean keepsOrder() {
    return zone.getRules().isFixedOffset();
  }
}
