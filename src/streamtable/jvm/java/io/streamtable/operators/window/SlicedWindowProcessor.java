package io.streamtable.operators.window;

import io.streamtable.functions.WindowZone;
import io.streamtable.operators.aggregate.MergedAggregates;
import io.streamtable.operators.state.Lateness;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.TimerValues;

/**
 * HOP and CUMULATE by shared slices: a row is aggregated once, in the slice of its time, and a
 * window is merged from its slices.
 *
 * <p>A slice is as long as the distance between windows. It is deleted when its last window has been
 * emitted. A row may be late for some of its windows: those have been emitted, and the later ones
 * contain the row. Slices of CUMULATE that only occur together from now on become one slice.
 */
public final class SlicedWindowProcessor extends MergedWindowProcessor {
  private final Slices slices;
  private final int startAt;

  /** @param startAt position of the slice's start in input rows */
  SlicedWindowProcessor(
      Slices slices,
      MergedAggregates aggregates,
      int keys,
      int startAt,
      WindowZone zone,
      Lateness lateness) {
    super(aggregates, keys, zone, lateness);
    this.slices = slices;
    this.startAt = startAt;
  }

  @Override
  void add(Row row, TimerValues timers) {
    long start = row.getLong(startAt);
    boolean open = false;
    long late = 0;
    for (long end = start + slices.step(); end <= slices.lastEnd(start); end += slices.step()) {
      if (lateness.isLate(zone.last(end), timers)) {
        late++;
      } else {
        open = true;
        if (zone.keepsOrder()) {
          break;
        }
      }
    }
    if (late > 0) {
      lateness.count(late * aggregates.weight(row));
    }
    if (open) {
      Object[] part = parts.get(start);
      if (part == null) {
        part = aggregates.empty();
        part[START] = start;
        parts.put(start, part);
      }
      aggregates.add(part, row);
    }
  }

  @Override
  void fire(Row key, long watermark, List<Row> output) {
    for (long end = firstEnd(); end != NONE; end = endFrom(end + slices.step())) {
      long last = zone.last(end);
      if (last > watermark && zone.keepsOrder()) {
        break;
      }
      if (emitted < last && last <= watermark) {
        output.add(row(key, slices.start(end), end, within(end)));
      }
    }
    Object[] before = null;
    for (Iterator<Object[]> left = parts.values().iterator(); left.hasNext(); ) {
      Object[] part = left.next();
      long start = (Long) part[START];
      if (passed(start + slices.step(), slices.lastEnd(start), watermark)) {
        left.remove();
      } else if (before != null && joins((Long) before[START], start, watermark)) {
        aggregates.merge(before, part);
        left.remove();
      } else {
        before = part;
      }
    }
  }

  /** Returns whether every window of CUMULATE from now on contains both slices or neither. */
  private boolean joins(long start, long later, long watermark) {
    return slices.cumulative()
        && slices.lastEnd(start) == slices.lastEnd(later)
        && passed(start + slices.step(), later, watermark);
  }

  /** Returns whether the watermark has passed all windows with an end from the first to the last. */
  private boolean passed(long first, long last, long watermark) {
    boolean passed = zone.last(last) <= watermark;
    for (long end = first; passed && !zone.keepsOrder() && end < last; end += slices.step()) {
      passed = zone.last(end) <= watermark;
    }
    return passed;
  }

  @Override
  long next(long watermark) {
    long next = NONE;
    for (long end = firstEnd(); end != NONE; end = endFrom(end + slices.step())) {
      long last = zone.last(end);
      if (last > watermark) {
        next = Math.min(next, last);
        if (zone.keepsOrder()) {
          break;
        }
      }
    }
    return next;
  }

  private long firstEnd() {
    return parts.isEmpty() ? NONE : parts.firstKey() + slices.step();
  }

  /** Returns the first end of a window, from this one on, that contains a slice. */
  private long endFrom(long end) {
    Long start = parts.ceilingKey(slices.start(end));
    if (start == null) {
      return NONE;
    }
    return Math.max(end, start + slices.step());
  }

  private Iterable<Object[]> within(long end) {
    return parts.subMap(slices.start(end), end).values();
  }
}
