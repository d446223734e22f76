package io.streamtable.kafka;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Takes an upsert topic back to where it once ended: every key with a record behind that gets its
 * last record before it again, or a tombstone where there is none. Bytes are copied, with headers
 * and into the same partition. What has been taken back may be taken back again.
 */
public final class SinkRestore {
  private static final Duration POLL = Duration.ofMillis(200);
  private static final long SETTLED_MS = 300;
  private static final long STALLED_MS = 60_000;
  private static final long FIRST_LOOK = 10_000;

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

  private SinkRestore(
      Map<String, String> properties, String topic, boolean whole, long timeoutMs) {
    this.properties = properties;
    this.topic = topic;
    this.whole = whole;
    this.timeoutMs = timeoutMs;
    this.deadline = System.nanoTime() + timeoutMs * 1_000_000L;
    Map<String, Object> reading = new HashMap<>(properties);
    reading.put("enable.auto.commit", "false");
    reading.put("auto.offset.reset", "earliest");
    reading.put("isolation.level", "read_uncommitted");
    reading.put("max.poll.records", "5000");
    reading.remove("group.id"); // it takes no part in anyone's group
    ByteArrayDeserializer bytes = new ByteArrayDeserializer();
    this.consumer = new KafkaConsumer<>(reading, bytes, bytes);
    this.producer = producer(properties);
  }

  private Producer<byte[], byte[]> producer(Map<String, String> properties) {
    Map<String, Object> writing = new HashMap<>(properties);
    writing.put("linger.ms", "5");
    writing.put("acks", "all");
    ByteArraySerializer bytes = new ByteArraySerializer();
    try {
      return new KafkaProducer<>(writing, bytes, bytes);
    } catch (RuntimeException e) {
      consumer.close();
      throw e;
    }
  }

  /**
   * Takes a topic back; nobody else may write to it meanwhile.
   *
   * @param properties of its clients
   * @param timeoutMs what is not done by then is left undone, and told by an exception
   * @param ends where it ended, for each "topic:partition"; exclusive
   * @param whole whether no record before the ends can have been compacted away by one behind; else
   *     keys without one are left as they are
   * @return "keys" that were taken back, "left" for those left
   */
  public static Map<String, Long> run(
      Map<String, String> properties,
      long timeoutMs,
      String topic,
      Map<String, ? extends Number> ends,
      boolean whole) {
    SinkRestore restore = null;
    try {
      restore = new SinkRestore(properties, topic, whole, timeoutMs);
      return restore.all(ends);
    } catch (RuntimeException e) {
      throw e instanceof KafkaFault ? e : KafkaFault.of(e, properties);
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    } finally {
      if (restore != null) {
        restore.consumer.close();
        restore.producer.close(Duration.ZERO);
      }
    }
  }

  private Map<String, Long> all(Map<String, ? extends Number> ends) throws InterruptedException {
    Map<TopicPartition, Long> until = settledEnds(ends.keySet());
    for (Map.Entry<String, ? extends Number> end : ends.entrySet()) {
      TopicPartition partition = KafkaAdmin.partition(end.getKey());
      takeBack(partition, end.getValue().longValue(), until.get(partition));
    }
    producer.flush();
    if (failure.get() != null) {
      throw KafkaFault.of(failure.get(), properties);
    }
    return Map.of("keys", keys, "left", left);
  }

  /** The ends once they stand still: a query that was broken off may have records on their way. */
  private Map<TopicPartition, Long> settledEnds(Set<String> names) throws InterruptedException {
    List<TopicPartition> partitions = names.stream().map(KafkaAdmin::partition).toList();
    Map<TopicPartition, Long> before = Map.of();
    while (true) {
      boolean settled = Unsettled.none(topic);
      Map<TopicPartition, Long> now = consumer.endOffsets(partitions);
      if (settled && now.equals(before)) {
        return now;
      }
      checkTime();
      before = settled ? now : Map.of();
      Thread.sleep(SETTLED_MS);
    }
  }

  private void takeBack(TopicPartition partition, long end, long until) {
    Set<ByteBuffer> touched = new HashSet<>();
    read(partition, end, until, found -> touched.add(ByteBuffer.wrap(found.key())));
    Map<ByteBuffer, ConsumerRecord<byte[], byte[]>> last = new HashMap<>();
    long begin = consumer.beginningOffsets(List.of(partition)).get(partition);
    // From the end back in ever longer pieces: most keys that change have changed not long before.
    long to = end;
    for (long size = FIRST_LOOK; to > begin && last.size() < touched.size(); size *= 2) {
      long from = Math.max(begin, to - size);
      Map<ByteBuffer, ConsumerRecord<byte[], byte[]>> piece = new HashMap<>();
      read(
          partition,
          from,
          to,
          found -> {
            ByteBuffer key = ByteBuffer.wrap(found.key());
            if (touched.contains(key) && !last.containsKey(key)) {
              piece.put(key, found);
            }
          });
      last.putAll(piece);
      to = from;
    }
    touched.forEach(key -> write(partition, key.array(), last.get(key)));
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

  /** Reads the records with a key from one offset up to another. */
  private void read(
      TopicPartition partition,
      long from,
      long to,
      Consumer<ConsumerRecord<byte[], byte[]>> each) {
    if (from >= to) {
      return;
    }
    consumer.assign(List.of(partition));
    consumer.seek(partition, from);
    long moved = System.nanoTime();
    for (long at = from; at < to; ) {
      checkTime();
      for (ConsumerRecord<byte[], byte[]> found : consumer.poll(POLL)) {
        if (found.key() != null && found.offset() < to) {
          each.accept(found);
        }
      }
      long now = consumer.position(partition);
      if (now > at) {
        at = now;
        moved = System.nanoTime();
      } else if (System.nanoTime() - moved > STALLED_MS * 1_000_000L) {
        throw new TimeoutException("no record of " + partition + " came for a minute");
      }
    }
  }

  private void checkTime() {
    if (System.nanoTime() - deadline > 0) {
      String left = "topic '" + topic + "' could not be taken back within ";
      throw new KafkaFault(left + timeoutMs / 1_000 + " s", KafkaFault.Kind.OTHER);
    }
  }
}
