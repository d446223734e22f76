package io.streamtable.operators.window;

import io.streamtable.functions.WindowZone;
import io.streamtable.operators.aggregate.MergedAggregates;
import io.streamtable.operators.state.EventTimers;
import io.streamtable.operators.state.Lateness;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.TimerValues;

/**
 * Sessions that keep their aggregates instead of their rows.
 *
 * <p>Input rows have the start and end of the session that they would form alone, or of the session
 * of the rows in them. A row is late if its session, merged with the open sessions and the other
 * rows of the batch, has ended according to the watermark.
 */
public final class MergedSessionProcessor extends MergedWindowProcessor {
  private final LocalSessions.Spans spans;
  private final int startAt;

  /** @param startAt position of the start in input rows; the end follows */
  MergedSessionProcessor(
      MergedAggregates aggregates, int keys, int startAt, WindowZone zone, Lateness lateness) {
    super(aggregates, keys, zone, lateness);
    this.spans = new LocalSessions.Spans(aggregates);
    this.startAt = startAt;
  }

  @Override
  void add(Row row, TimerValues timers) {
    spans.add(parts, row, startAt);
  }

  @Override
  void fire(Row key, long watermark, List<Row> output) {
    for (Iterator<Object[]> open = parts.values().iterator(); open.hasNext(); ) {
      Object[] part = open.next();
      long end = (Long) part[LocalSessions.END];
      if (zone.last(end) <= watermark) {
        output.add(row(key, (Long) part[START], end, List.<Object[]>of(part)));
        open.remove();
      }
    }
  }

  @Override
  void dropLate(TimerValues timers) {
    // An open session has not ended, so all rows of an ended one have just been added.
    for (Iterator<Object[]> open = parts.values().iterator(); open.hasNext(); ) {
      Object[] part = open.next();
      if (lateness.isLate(zone.last((Long) part[LocalSessions.END]), timers)) {
        lateness.count(aggregates.rows(part));
        open.remove();
      }
    }
  }

  @Override
  long next(long watermark) {
    long next = NONE;
    for (Object[] part : parts.values()) {
      next = Math.min(next, zone.last((Long) part[LocalSessions.END]));
    }
    return next;
  }
}
