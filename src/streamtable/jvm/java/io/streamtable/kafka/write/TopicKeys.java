package io.streamtable.kafka.write;

import io.streamtable.kafka.client.BoundedConsumer;
import io.streamtable.kafka.client.KafkaFault;
import io.streamtable.kafka.client.Secrets;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/** Reads the keys of a topic. */
final class TopicKeys {
  private static final Duration POLL = Duration.ofMillis(200);
  private static final long STALLED_MS = 60_000;

  private static final Map<String, String> READING =
      Map.of("auto.offset.reset", "earliest", "isolation.level", "read_uncommitted");

  private TopicKeys() {}

  /**
   * Returns every key that has a value somewhere in the topic, even if a later record deletes it.
   * Includes records of open transactions, because the caller's transaction may be open.
   *
   * @param properties properties of a consumer, without deserializers
   * @param headers if not empty, only keys whose last value has all of these headers are returned
   */
  static List<byte[]> read(Map<String, String> properties, String topic, Headers headers) {
    Set<ByteBuffer> keys = new LinkedHashSet<>();
    try (KafkaConsumer<byte[], byte[]> consumer = BoundedConsumer.of(properties, READING)) {
      List<TopicPartition> all =
          consumer.partitionsFor(topic).stream().map(TopicKeys::partition).toList();
      consumer.assign(all);
      consumer.seekToBeginning(all);
      Map<TopicPartition, Long> ends = consumer.endOffsets(all);
      long moved = System.currentTimeMillis();
      while (all.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
        boolean any = false;
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          any = true;
          if (record.key() != null && record.value() != null) {
            ByteBuffer key = ByteBuffer.wrap(record.key());
            if (has(record, headers)) {
              keys.add(key);
            } else {
              keys.remove(key);
            }
          }
        }
        long now = System.currentTimeMillis();
        moved = any ? now : moved;
        if (now - moved > STALLED_MS) {
          throw new KafkaFault("topic '" + topic + "' gave no record for a minute", false);
        }
      }
    } catch (KafkaException e) {
      String reason = Secrets.describe(e, properties);
      throw new KafkaFault("the keys of topic '" + topic + "': " + reason, false);
    }
    return keys.stream().map(ByteBuffer::array).toList();
  }

  private static TopicPartition partition(PartitionInfo found) {
    return new TopicPartition(found.topic(), found.partition());
  }

  private static boolean has(ConsumerRecord<byte[], byte[]> record, Headers wanted) {
    for (Header header : wanted) {
      Header found = record.headers().lastHeader(header.key());
      if (found == null || !Arrays.equals(found.value(), header.value())) {
        return false;
      }
    }
    return true;
  }
}
