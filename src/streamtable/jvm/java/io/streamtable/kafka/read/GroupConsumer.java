package io.streamtable.kafka.read;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.spark.sql.kafka010.KafkaOffsetRange;

/**
 * A consumer of one or several partitions. It reads ranges of offsets, and keeps the records that it has
 * fetched beyond them for the next ranges. One task uses it at a time.
 */
final class GroupConsumer {
  /** The longest poll: a task that is killed waits for it. */
  private static final Duration POLL = Duration.ofMillis(500);

  private final Map<String, Object> params;
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Map<TopicPartition, FetchedRecords> fetched = new HashMap<>();
  private final Set<FetchedRecords> open = new HashSet<>();
  private final Map<TopicPartition, Long> unfinished = new HashMap<>();
  private long timeoutNanos;
  private Iterator<FetchedRecords> ready = Collections.emptyIterator();
  private FetchedRecords current;
  private volatile boolean closed;

  GroupConsumer(Map<String, Object> params) {
    this.params = params;
    ByteArrayDeserializer bytes = new ByteArrayDeserializer();
    this.consumer = new KafkaConsumer<>(params, bytes, bytes);
  }

  Map<String, Object> params() {
    return params;
  }

  /** Returns how many of the partitions the consumer read last time. */
  synchronized long common(Collection<TopicPartition> partitions) {
    return partitions.stream().filter(fetched::containsKey).count();
  }

  /**
   * Starts to read ranges, and forgets partitions that have none.
   *
   * @param timeoutMs time without a record after which the remaining ranges are given up
   */
  synchronized void begin(Collection<KafkaOffsetRange> ranges, long timeoutMs) {
    timeoutNanos = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    Set<TopicPartition> partitions = new HashSet<>();
    ranges.forEach(range -> partitions.add(range.topicPartition()));
    consumer.assign(partitions); // partitions that stay keep their positions
    fetched.keySet().retainAll(partitions);
    open.clear();
    unfinished.clear();
    for (KafkaOffsetRange range : ranges) {
      FetchedRecords records =
          fetched.computeIfAbsent(range.topicPartition(), FetchedRecords::new);
      if (records.begin(range.fromOffset(), range.untilOffset())) {
        consumer.seek(range.topicPartition(), range.fromOffset());
      }
      if (!records.reachesEnd()) {
        open.add(records);
      }
    }
    consumer.pause(partitions);
    consumer.resume(open.stream().map(FetchedRecords::partition).toList());
    ready = new ArrayList<>(fetched.values()).iterator();
    current = null;
  }

  /** Returns the partition of the record that {@link #next} has returned. */
  TopicPartition partition() {
    return current.partition();
  }

  /** Returns, for each partition that was given up, the first offset that was not read. */
  Map<TopicPartition, Long> unfinished() {
    return unfinished;
  }

  /** Returns the next record of any range; null if none is left. */
  synchronized ConsumerRecord<byte[], byte[]> next() {
    ConsumerRecord<byte[], byte[]> record = nextFetched();
    if (record != null || open.isEmpty()) {
      return record;
    }
    long advanced = System.nanoTime();
    do {
      if (poll()) {
        advanced = System.nanoTime();
      } else if (System.nanoTime() - advanced > timeoutNanos) {
        giveUp(open.stream().map(FetchedRecords::partition).toList());
      }
      record = nextFetched();
    } while (record == null && !open.isEmpty());
    return record;
  }

  /** Returns the next record that was fetched; null if none is left. */
  private ConsumerRecord<byte[], byte[]> nextFetched() {
    while (current != null || ready.hasNext()) {
      if (current == null) {
        current = ready.next();
      }
      ConsumerRecord<byte[], byte[]> record = current.next();
      if (record != null) {
        return record;
      }
      current = null;
    }
    return null;
  }

  /** Fetches records of the open ranges; returns whether one of them advanced. */
  private boolean poll() {
    if (closed) {
      throw new IllegalStateException("the task of this consumer has ended");
    }
    ConsumerRecords<byte[], byte[]> records;
    try {
      records = consumer.poll(POLL);
    } catch (OffsetOutOfRangeException e) {
      giveUp(e.partitions());
      return true;
    }
    List<FetchedRecords> found = new ArrayList<>();
    for (TopicPartition partition : records.partitions()) {
      FetchedRecords one = fetched.get(partition);
      one.add(records.records(partition));
      found.add(one);
    }
    boolean advanced = !found.isEmpty();
    List<TopicPartition> complete = new ArrayList<>();
    for (FetchedRecords one : open) {
      // No record may be left between the newest record and the end of a range: markers of
      // transactions and compacted records only move the position.
      if (!one.reachesEnd()) {
        advanced |= one.reach(position(one));
      }
      if (one.reachesEnd()) {
        complete.add(one.partition());
      }
    }
    complete.forEach(partition -> open.remove(fetched.get(partition)));
    consumer.pause(complete);
    ready = found.iterator();
    return advanced;
  }

  private long position(FetchedRecords records) {
    try {
      return consumer.position(records.partition(), POLL);
    } catch (TimeoutException e) {
      return records.end(); // not known yet
    }
  }

  private void giveUp(Collection<TopicPartition> partitions) {
    for (TopicPartition partition : List.copyOf(partitions)) {
      FetchedRecords records = fetched.remove(partition);
      unfinished.put(partition, records.end());
      open.remove(records);
    }
    consumer.pause(partitions);
  }

  /** Closes the consumer; a thread of the task that still reads gets an exception. */
  void close() {
    closed = true;
    synchronized (this) {
      consumer.close(Duration.ZERO);
    }
  }
}
