package io.streamtable.kafka.rollback;

import io.streamtable.kafka.admin.TopicOffsets;
import io.streamtable.kafka.client.BoundedConsumer;
import io.streamtable.kafka.client.KafkaFault;
import io.streamtable.kafka.write.InFlightRecords;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Rolls an upsert topic back to earlier end offsets. For every key with a record after these
 * offsets, the rollback writes the key's last record before them again, or a tombstone if there is
 * none. Bytes and headers are copied into the same partition. A rollback may be repeated.
 */
public final class SinkRollback {
  private static final Duration POLL = Duration.ofMillis(200);
  private static final long SETTLED_MS = 300;
  private static final long STALLED_MS = 60_000;
  private static final long FIRST_RANGE = 10_000;

  /** Limits the heap use. Each round reads back through the topic. */
  private static final int KEYS_AT_ONCE = 100_000;

  /** Limits the bytes of a round's keys, and the bytes of the records that are kept at a time. */
  private static final long BYTES_AT_ONCE = 16L << 20;

  private static final Map<String, String> READING =
      Map.of(
          "auto.offset.reset", "earliest",
          "isolation.level", "read_uncommitted",
          "max.poll.records", "5000");

  private final Map<String, String> properties;
  private final String topic;
  private final boolean whole;
  private final long timeoutMs;
  private final long deadline;
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Producer<byte[], byte[]> producer;
  private final AtomicReference<Exception> failure = new AtomicReference<>();
  private long keys;
  private long left;

  private SinkRollback(
      Map<String, String> properties, String topic, boolean whole, long timeoutMs) {
    this.properties = properties;
    this.topic = topic;
    this.whole = whole;
    this.timeoutMs = timeoutMs;
    this.deadline = System.nanoTime() + timeoutMs * 1_000_000L;
    this.consumer = BoundedConsumer.of(properties, READING);
    this.producer = producer(properties);
  }

  private Producer<byte[], byte[]> producer(Map<String, String> properties) {
    Map<String, Object> writing = new HashMap<>(properties);
    writing.put("linger.ms", "5");
    writing.put("acks", "all");
    writing.putIfAbsent("max.in.flight.requests.per.connection", "1"); // as in all our producers
    ByteArraySerializer bytes = new ByteArraySerializer();
    try {
      return new KafkaProducer<>(writing, bytes, bytes);
    } catch (RuntimeException e) {
      consumer.close();
      throw e;
    }
  }

  /**
   * Rolls a topic back. No other client may write to the topic meanwhile.
   *
   * @param properties properties of the clients
   * @param timeoutMs the time limit in ms; after it the rollback stops and throws an exception
   * @param ends end offsets to roll back to, for each "topic:partition"; exclusive
   * @param whole whether compaction cannot have removed a record before the ends because of a
   *     record after them; if false, keys without a record before the ends stay unchanged
   * @return "keys": the number of keys rolled back; "left": the number of keys left unchanged
   */
  public static Map<String, Long> run(
      Map<String, String> properties,
      long timeoutMs,
      String topic,
      Map<String, ? extends Number> ends,
      boolean whole) {
    SinkRollback rollback = null;
    try {
      rollback = new SinkRollback(properties, topic, whole, timeoutMs);
      return rollback.all(ends);
    } catch (RuntimeException e) {
      throw e instanceof KafkaFault ? e : KafkaFault.of(e, properties);
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    } finally {
      if (rollback != null) {
        rollback.consumer.close();
        rollback.producer.close(Duration.ZERO);
      }
    }
  }

  private Map<String, Long> all(Map<String, ? extends Number> ends) throws InterruptedException {
    Map<TopicPartition, Long> until = settledEnds(ends.keySet());
    for (Map.Entry<String, ? extends Number> end : ends.entrySet()) {
      TopicPartition partition = TopicOffsets.partition(end.getKey());
      rollBack(partition, end.getValue().longValue(), until.get(partition));
    }
    producer.flush();
    if (failure.get() != null) {
      throw KafkaFault.of(failure.get(), properties);
    }
    return Map.of("keys", keys, "left", left);
  }

  /**
   * Returns the end offsets once they stop growing: a query that was interrupted may have in-flight
   * records.
   */
  private Map<TopicPartition, Long> settledEnds(Set<String> names) throws InterruptedException {
    List<TopicPartition> partitions = names.stream().map(TopicOffsets::partition).toList();
    Map<TopicPartition, Long> before = Map.of();
    while (true) {
      boolean settled = InFlightRecords.none(topic);
      Map<TopicPartition, Long> now = consumer.endOffsets(partitions);
      if (settled && now.equals(before)) {
        return now;
      }
      checkTime();
      before = settled ? now : Map.of();
      Thread.sleep(SETTLED_MS);
    }
  }

  /**
   * Rolls a partition back in rounds with limited keys, so that keys and records fit into a small
   * heap. A key that appears in a later round again gets the same record again.
   */
  private void rollBack(TopicPartition partition, long end, long until) {
    long from = end;
    while (from < until) {
      Set<ByteBuffer> touched = new HashSet<>();
      long[] bytes = {0};
      from =
          read(
              partition,
              from,
              until,
              found -> {
                if (touched.add(ByteBuffer.wrap(found.key()))) {
                  bytes[0] += found.key().length;
                }
                return touched.size() < KEYS_AT_ONCE && bytes[0] < BYTES_AT_ONCE;
              });
      rollBack(partition, end, touched);
    }
  }

  /**
   * Writes the last record before the end for each key. Reads backwards in ever larger pieces,
   * because most changed keys also changed shortly before. The records of a piece are written
   * before the next piece is read. A piece with too many bytes is read again in two halves.
   */
  private void rollBack(TopicPartition partition, long end, Set<ByteBuffer> touched) {
    long begin = consumer.beginningOffsets(List.of(partition)).get(partition);
    long to = end;
    long size = FIRST_RANGE;
    while (to > begin && !touched.isEmpty()) {
      long from = Math.max(begin, to - size);
      LastRecords piece = new LastRecords(touched, to - from > 1 ? BYTES_AT_ONCE : Long.MAX_VALUE);
      read(partition, from, to, piece::add);
      if (piece.isFull()) {
        size = (to - from + 1) / 2;
        continue;
      }
      piece.records().forEach((key, record) -> write(partition, key.array(), record));
      touched.removeAll(piece.records().keySet());
      to = from;
      size = piece.bytes() < BYTES_AT_ONCE / 4 ? size * 2 : size;
    }
    touched.forEach(key -> write(partition, key.array(), null));
  }

  private void write(
      TopicPartition partition, byte[] key, ConsumerRecord<byte[], byte[]> before) {
    if (before == null && !whole) {
      left++;
      return;
    }
    keys++;
    byte[] value = before == null ? null : before.value();
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topic, partition.partition(), key, value);
    if (before != null) {
      before.headers().forEach(record.headers()::add);
    }
    producer.send(
        record,
        (metadata, e) -> {
          if (e != null) {
            failure.compareAndSet(null, e);
          }
        });
  }

  /**
   * Reads the records with a key between two offsets until `takesMore` returns false.
   *
   * @return the offset where the read stopped, exclusive
   */
  private long read(
      TopicPartition partition,
      long from,
      long to,
      Predicate<ConsumerRecord<byte[], byte[]>> takesMore) {
    if (from >= to) {
      return to;
    }
    consumer.assign(List.of(partition));
    consumer.seek(partition, from);
    long moved = System.nanoTime();
    for (long at = from; at < to; ) {
      checkTime();
      for (ConsumerRecord<byte[], byte[]> found : consumer.poll(POLL)) {
        boolean wanted = found.key() != null && found.offset() < to;
        if (wanted && !takesMore.test(found)) {
          return found.offset() + 1;
        }
      }
      long now = consumer.position(partition);
      if (now > at) {
        at = now;
        moved = System.nanoTime();
      } else if (System.nanoTime() - moved > STALLED_MS * 1_000_000L) {
        throw new TimeoutException("no record of " + partition + " was read for a minute");
      }
    }
    return to;
  }

  private void checkTime() {
    if (System.nanoTime() - deadline > 0) {
      String left = "topic '" + topic + "' could not be rolled back within ";
      throw new KafkaFault(left + timeoutMs / 1_000 + " s", KafkaFault.Kind.OTHER);
    }
  }
}
