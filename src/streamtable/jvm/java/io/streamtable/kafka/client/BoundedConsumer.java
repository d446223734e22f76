package io.streamtable.kafka.client;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Creates consumers that read up to known offsets, and belong to no group. */
public final class BoundedConsumer {
  /**
   * The longest time in ms that the broker waits for the next record. The last fetch of such a
   * consumer asks for records behind the known offsets. Other requests of its connection, and its
   * end, wait for the answer: by default half a second.
   */
  private static final String MAX_WAIT_MS = "10";

  private BoundedConsumer() {}

  /**
   * Creates a consumer without partitions.
   *
   * @param properties client settings of the table
   * @param more settings that replace them
   */
  public static KafkaConsumer<byte[], byte[]> of(
      Map<String, String> properties, Map<String, String> more) {
    Map<String, Object> config = new HashMap<>(properties);
    config.remove(ConsumerConfig.GROUP_ID_CONFIG);
    config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    config.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, MAX_WAIT_MS);
    config.putAll(more);
    ByteArrayDeserializer bytes = new ByteArrayDeserializer();
    return new KafkaConsumer<>(config, bytes, bytes);
  }
}
