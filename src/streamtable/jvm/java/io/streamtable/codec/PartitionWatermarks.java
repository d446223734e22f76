package io.streamtable.codec;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.AccumulatorV2;

/**
 * The greatest watermark that each partition of a scan has shown, by "topic/partition".
 *
 * <p>Tasks tell the driver, which gives all it knows to the tasks of the next batch. Rows without a
 * watermark, because their event time is NULL, move nothing.
 */
public final class PartitionWatermarks
    extends AccumulatorV2<PartitionWatermarks.Seen, Map<String, Long>> {
  /** Below every watermark that data shows: the year 1, in milliseconds. */
  public static final long NONE = -62_135_596_800_000L;

  private final HashMap<String, Long> known;
  private final HashMap<String, Long> shown = new HashMap<>();
  private final HashMap<String, Long> heard = new HashMap<>();
  private transient Map<UTF8String, Long> answers;
  private transient UTF8String topic;
  private transient int partition;
  private transient long greatest;

  /** What one record shows. */
  public record Seen(UTF8String topic, int partition, long watermark) {}

  private PartitionWatermarks(Map<String, Long> known) {
    this.known = new HashMap<>(known);
  }

  /**
   * A new one.
   *
   * @param known what earlier runs have seen, numbers as text
   */
  public static PartitionWatermarks register(SparkContext context, Map<String, String> known) {
    Map<String, Long> parsed = new HashMap<>();
    known.forEach((name, watermark) -> parsed.put(name, Long.valueOf(watermark)));
    PartitionWatermarks made = new PartitionWatermarks(parsed);
    context.register(made, "watermarks");
    return made;
  }

  /** How far a partition had come when the batch began; NONE where it has shown nothing. */
  public long known(UTF8String name) {
    if (answers == null) {
      answers = new HashMap<>();
      known.forEach((text, watermark) -> answers.put(UTF8String.fromString(text), watermark));
    }
    return answers.getOrDefault(name, NONE);
  }

  /**
   * Takes note of a row; gives its watermark in milliseconds, NONE for NULL.
   *
   * @param micros the watermark in microseconds; the least number there is stands for NULL
   */
  public long observe(UTF8String topic, int partition, long micros) {
    long watermark = micros == Long.MIN_VALUE ? NONE : DateTimeUtils.microsToMillis(micros);
    boolean same = partition == this.partition && topic.equals(this.topic);
    if (!same || watermark > greatest) {
      add(new Seen(topic, partition, watermark));
    }
    return watermark;
  }

  @Override
  public void add(Seen seen) {
    topic = seen.topic.copy();
    partition = seen.partition;
    greatest = shown.merge(topic + "/" + partition, seen.watermark, Math::max);
  }

  @Override
  public boolean isZero() {
    return shown.isEmpty();
  }

  @Override
  public AccumulatorV2<Seen, Map<String, Long>> copy() {
    PartitionWatermarks copy = new PartitionWatermarks(value());
    copy.shown.putAll(shown);
    return copy;
  }

  @Override
  public void reset() {
    shown.clear();
    topic = null;
  }

  @Override
  public synchronized void merge(AccumulatorV2<Seen, Map<String, Long>> other) {
    ((PartitionWatermarks) other)
        .shown.forEach(
            (name, watermark) -> {
              shown.merge(name, watermark, Math::max);
              heard.merge(name, 1L, Long::sum);
            });
    topic = null;
  }

  /** What is known, of earlier runs and of tasks that have ended. */
  @Override
  public synchronized Map<String, Long> value() {
    Map<String, Long> found = new HashMap<>(known);
    shown.forEach((name, watermark) -> found.merge(name, watermark, Math::max));
    found.values().removeIf(watermark -> watermark == NONE);
    return found;
  }

  /** How many tasks that have ended had records of a partition; for the driver. */
  public synchronized Map<String, Long> heard() {
    return new HashMap<>(heard);
  }
}
