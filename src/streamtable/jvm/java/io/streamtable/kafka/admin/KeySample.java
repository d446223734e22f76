package io.streamtable.kafka.admin;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Decoder;
import io.streamtable.codec.Encoder;
import io.streamtable.kafka.client.BoundedConsumer;
import io.streamtable.kafka.client.KafkaFault;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/** Compares the last keys of a topic with a format: does the format write the same bytes? */
public final class KeySample {
  private static final int PER_PARTITION = 20;
  private static final int SHOWN = 100;

  private KeySample() {}

  /**
   * Describes the difference between the topic's keys and the keys of a format; null if there is
   * none.
   *
   * @param timeoutMs longest time to read, in ms; the check then uses the records read so far
   */
  public static String difference(
      Map<String, String> properties,
      long timeoutMs,
      String topic,
      Decoder decoder,
      Encoder encoder) {
    List<byte[]> keys;
    Map<String, String> limit = Map.of("default.api.timeout.ms", String.valueOf(timeoutMs));
    try (KafkaConsumer<byte[], byte[]> consumer = BoundedConsumer.of(properties, limit)) {
      keys = last(consumer, topic, timeoutMs);
    } catch (RuntimeException e) {
      throw KafkaFault.of(e, properties);
    }
    String unreadable = null;
    boolean anyReads = false;
    for (byte[] key : keys) {
      try {
        GenericInternalRow row = decoder.decode(key);
        byte[] again = row == null ? new byte[0] : encoder.encode(row);
        if (!Arrays.equals(key, again)) {
          return "it holds the key " + shown(key) + ", which is written as " + shown(again);
        }
        anyReads = true;
      } catch (DecodeException e) {
        unreadable = "it holds the key " + shown(key) + ", which does not parse: " + e.getMessage();
      }
    }
    return anyReads ? null : unreadable;
  }

  private static List<byte[]> last(
      KafkaConsumer<byte[], byte[]> consumer, String topic, long timeoutMs) {
    List<TopicPartition> partitions =
        consumer.partitionsFor(topic).stream()
            .map(found -> new TopicPartition(topic, found.partition()))
            .toList();
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    Map<TopicPartition, Long> begins = consumer.beginningOffsets(partitions);
    consumer.assign(partitions);
    for (TopicPartition partition : partitions) {
      long wanted = ends.get(partition) - PER_PARTITION;
      consumer.seek(partition, Math.max(begins.get(partition), wanted));
    }
    List<byte[]> keys = new ArrayList<>();
    long deadline = System.nanoTime() + timeoutMs * 1_000_000L;
    while (System.nanoTime() < deadline
        && partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
        if (record.key() != null) {
          keys.add(record.key());
        }
      }
    }
    return keys;
  }

  /** Formats a key as text if it is text, else as hexadecimal digits. */
  private static String shown(byte[] key) {
    String text = new String(key, StandardCharsets.UTF_8);
    boolean readable = text.chars().noneMatch(c -> Character.isISOControl(c) || c == '\ufffd');
    String found = readable ? text : "0x" + HexFormat.of().formatHex(key);
    return found.length() <= SHOWN ? found : found.substring(0, SHOWN) + "...";
  }
}
