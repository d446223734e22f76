package io.streamtable.kafka.read;

import io.streamtable.kafka.client.BoundedConsumer;
import io.streamtable.kafka.client.KafkaFault;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/**
 * Reads the newest committed records of a topic as they arrive, for people who watch a job. If more
 * records arrive than are asked for, the older ones are skipped and not fetched.
 */
public final class TopicTail implements AutoCloseable {
  private static final Duration WAIT = Duration.ofSeconds(10);
  private static final Duration POLL = Duration.ofMillis(100);
  private static final int POLLS = 5;

  private final Map<String, String> properties;
  private final String topic;
  private final int records;
  private final KafkaConsumer<byte[], byte[]> consumer;

  /**
   * Creates a tail.
   *
   * @param properties client settings of the table
   * @param records number of records of a poll, for all partitions together
   */
  public TopicTail(Map<String, String> properties, String topic, int records) {
    this.properties = new HashMap<>(properties);
    this.topic = topic;
    this.records = records;
    Map<String, String> reading =
        Map.of(
            ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest",
            ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed",
            ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false",
            ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, "262144");
    try {
      this.consumer = BoundedConsumer.of(properties, reading);
    } catch (RuntimeException e) {
      throw KafkaFault.of(e, this.properties);
    }
  }

  /**
   * Returns the records since the last poll, at first the newest ones of the topic. Each line has
   * timestamp, key and value, separated by tabs; the bytes are in Base64, and null is "-".
   */
  public String poll() {
    try {
      StringBuilder lines = new StringBuilder();
      Map<TopicPartition, Long> ends = approach();
      for (int i = 0; i < POLLS && behind(ends); i++) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          lines.append(record.timestamp()).append('\t');
          lines.append(text(record.key())).append('\t');
          lines.append(text(record.value())).append('\n');
        }
      }
      return lines.toString();
    } catch (RuntimeException e) {
      throw KafkaFault.of(e, properties);
    }
  }

  /** Skips all records but the newest ones; returns the end of each partition. */
  private Map<TopicPartition, Long> approach() {
    List<TopicPartition> found =
        consumer.partitionsFor(topic, WAIT).stream()
            .map(info -> new TopicPartition(info.topic(), info.partition()))
            .toList();
    boolean grown = found.size() != consumer.assignment().size();
    Map<TopicPartition, Long> ends = consumer.endOffsets(found, WAIT);
    if (found.isEmpty()) {
      return ends;
    }
    Map<TopicPartition, Long> begins = consumer.beginningOffsets(found, WAIT);
    List<TopicPartition> known = List.copyOf(consumer.assignment());
    if (grown) {
      consumer.assign(found);
    }
    long each = Math.max(1, records / found.size());
    for (TopicPartition partition : found) {
      long first = Math.max(begins.get(partition), ends.get(partition) - each);
      if (!known.contains(partition) || consumer.position(partition, WAIT) < first) {
        consumer.seek(partition, first);
      }
    }
    return ends;
  }

  private boolean behind(Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .anyMatch(end -> consumer.position(end.getKey(), WAIT) < end.getValue());
  }

  private static String text(byte[] bytes) {
    return bytes == null ? "-" : Base64.getEncoder().encodeToString(bytes);
  }

  /** Closes the connections. */
  @Override
  public void close() {
    consumer.close(Duration.ZERO);
  }
}
