package io.streamtable.watermarks;

import io.streamtable.expressions.MethodCall;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.AccumulatorV2;

/**
 * Tracks the greatest watermark of each split of a scan, by the split's id.
 *
 * <p>Tasks observe the rows. The driver merges the watermarks of the tasks and applies them when a
 * batch ends ({@link SplitTracker}). Rows without a watermark, because their event time is NULL,
 * have no effect.
 */
public final class SplitWatermarks extends AccumulatorV2<SplitWatermarks.Seen, Map<String, Long>> {
  /** Below every watermark of data: the year 1, in milliseconds. */
  public static final long NONE = -62_135_596_800_000L;

  /** Watermarks from the tasks of the running batch; in a task, from its rows. */
  private final HashMap<String, long[]> shown = new HashMap<>();

  // Only on the driver.
  private final transient SplitProgress progress;
  private final transient SparkSession session;
  private transient volatile SplitTracker tracker;

  // Only in a task: the split of the newest row.
  private transient UTF8String name;
  private transient int number;
  private transient long[] greatest;

  /** The split and watermark of one record. */
  public record Seen(String split, long watermark) {}

  private SplitWatermarks(SplitProgress progress, SparkSession session) {
    this.progress = progress;
    this.session = session;
  }

  /**
   * Registers an accumulator with a session.
   *
   * @param known watermarks from earlier runs, numbers as text
   * @param first the splits that hold the watermark back from the start
   * @param splits finds splits that appear later; null if none can appear
   */
  public static SplitWatermarks register(
      SparkSession session, Map<String, String> known, List<String> first, Splits splits) {
    Map<String, Long> parsed = new HashMap<>();
    known.forEach((split, watermark) -> parsed.put(split, Long.valueOf(watermark)));
    SplitWatermarks made =
        new SplitWatermarks(new SplitProgress(parsed, new HashSet<>(first), splits), session);
    // Without a name: else Spark would send all splits to listeners at the end of every task.
    session.sparkContext().register(made);
    return made;
  }

  /**
   * Returns the column that observes rows. Its value is always {@link #NONE}, so that Spark's own
   * tracker never advances.
   *
   * @param arguments a text and a number, which form the split's id "text/number", and the
   *     watermark in microseconds; the least long means NULL
   */
  public Column column(List<Column> arguments) {
    return MethodCall.column(
        this, SplitWatermarks.class, "observe", DataTypes.LongType, arguments);
  }

  /** Observes a row; see {@link #column}. */
  public long observe(UTF8String name, int number, long micros) {
    if (greatest == null || number != this.number || !name.equals(this.name)) {
      this.name = name.copy();
      this.number = number;
      greatest = cell(name + "/" + number);
    }
    if (micros != Long.MIN_VALUE) {
      greatest[0] = Math.max(greatest[0], DateTimeUtils.microsToMillis(micros));
    }
    return NONE;
  }

  @Override
  public void add(Seen seen) {
    long[] cell = cell(seen.split);
    cell[0] = Math.max(cell[0], seen.watermark);
  }

  private long[] cell(String split) {
    return shown.computeIfAbsent(split, s -> new long[] {NONE});
  }

  @Override
  public boolean isZero() {
    return shown.isEmpty();
  }

  @Override
  public AccumulatorV2<Seen, Map<String, Long>> copy() {
    SplitWatermarks copy = new SplitWatermarks(null, null);
    shown.forEach((split, watermark) -> copy.shown.put(split, watermark.clone()));
    return copy;
  }

  @Override
  public void reset() {
    shown.clear();
    greatest = null;
  }

  @Override
  public void merge(AccumulatorV2<Seen, Map<String, Long>> other) {
    boolean onDriver = session != null;
    if (onDriver && !other.isZero()) {
      tracker(); // before the end of the first batch with rows in this run of the query
    }
    synchronized (this) {
      ((SplitWatermarks) other)
          .shown.forEach(
              (split, watermark) -> {
                add(new Seen(split, watermark[0]));
                if (onDriver) {
                  progress.count(split);
                }
              });
    }
  }

  @Override
  public synchronized Map<String, Long> value() {
    Map<String, Long> found = new HashMap<>();
    shown.forEach((split, watermark) -> found.put(split, watermark[0]));
    return found;
  }

  /** Discards watermarks that an earlier execution of the query has not committed. */
  synchronized void begin(SplitTracker tracker) {
    shown.clear();
    progress.begin(tracker::hasCommitted);
    this.tracker = tracker;
  }

  /**
   * Applies the watermarks of the batch at its end.
   *
   * @param reached the position of the source at the end of the batch; null if it has none
   */
  public void settle(long batch, String reached) {
    Map<String, Long> found;
    synchronized (this) {
      found = value();
      shown.clear();
    }
    progress.settle(batch, found, reached);
  }

  /** Returns whether tasks of the running batch have reported rows. */
  synchronized boolean hasShown() {
    return !shown.isEmpty();
  }

  /** Returns the tracker of the running query; null if there is none. */
  SplitTracker tracker() {
    if (tracker == null || !tracker.isActive()) {
      SplitTracker.follow(session, this);
    }
    return tracker;
  }

  /** Returns the minimum watermark of all splits; empty if a split has none yet. */
  OptionalLong least() {
    return progress.least();
  }

  /** Returns the watermark of each split at the end of the newest batch, if the split has one. */
  public Map<String, Long> settled() {
    return progress.settled();
  }

  /**
   * Returns in how many tasks each counted split has had records; -1 if a new split is still
   * unread.
   */
  public Map<String, Long> heard() {
    return progress.heard();
  }

  /** Returns the watermark of each split at the newest commit, if the split has one. */
  public Map<String, Long> committed() {
    return progress.committed();
  }

  /** Releases the splits when the job has ended. */
  public void close() {
    progress.close();
  }
}
