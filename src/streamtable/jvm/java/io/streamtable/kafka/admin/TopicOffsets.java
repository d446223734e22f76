package io.streamtable.kafka.admin;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/**
 * Requests of the Python side about offsets, see {@link KafkaAdmin}. Offsets are keyed by
 * "topic:partition"; end offsets are exclusive.
 */
public final class TopicOffsets {
  private TopicOffsets() {}

  /**
   * Returns the offsets that a group has committed for the topics, without partitions that have no
   * committed offset.
   */
  public static Map<String, Long> committedOffsets(
      Map<String, String> properties, long timeoutMs, String group, List<String> topics) {
    return KafkaAdmin.call(
        properties,
        timeoutMs,
        admin -> {
          Map<String, Long> offsets = new TreeMap<>();
          admin
              .listConsumerGroupOffsets(group)
              .partitionsToOffsetAndMetadata()
              .get()
              .forEach(
                  (partition, offset) -> {
                    if (offset != null && topics.contains(partition.topic())) {
                      offsets.put(name(partition), offset.offset());
                    }
                  });
          return offsets;
        });
  }

  /** Returns the first available offset of each partition of the topics. */
  public static Map<String, Long> beginningOffsets(
      Map<String, String> properties, long timeoutMs, List<String> topics) {
    return KafkaAdmin.call(properties, timeoutMs, admin -> offsets(admin, topics, OffsetSpec.earliest()));
  }

  /** Returns the offset of the next record of each partition of the topics. */
  public static Map<String, Long> endOffsets(
      Map<String, String> properties, long timeoutMs, List<String> topics) {
    return KafkaAdmin.call(properties, timeoutMs, admin -> offsets(admin, topics, OffsetSpec.latest()));
  }

  /** Returns, for each partition of the topics, the offset up to which transactions have ended. */
  public static Map<String, Long> stableEndOffsets(
      Map<String, String> properties, long timeoutMs, List<String> topics) {
    ListOffsetsOptions committed = new ListOffsetsOptions(IsolationLevel.READ_COMMITTED);
    return KafkaAdmin.call(
        properties, timeoutMs, admin -> offsets(admin, topics, OffsetSpec.latest(), committed));
  }

  /**
   * Returns, for each partition, the first offset whose record is at or after a time, else the end
   * offset.
   */
  public static Map<String, Long> offsetsAt(
      Map<String, String> properties, long timeoutMs, List<String> topics, long timestampMs) {
    return KafkaAdmin.call(
        properties,
        timeoutMs,
        admin -> {
          Map<String, Long> found = offsets(admin, topics, OffsetSpec.latest());
          offsets(admin, topics, OffsetSpec.forTimestamp(timestampMs))
              .forEach((name, offset) -> found.merge(name, offset, (end, at) -> at < 0 ? end : at));
          return found;
        });
  }

  public static Map<String, Long> offsets(Admin admin, Collection<String> topics, OffsetSpec which)
      throws ExecutionException, InterruptedException {
    return offsets(admin, topics, which, new ListOffsetsOptions());
  }

  private static Map<String, Long> offsets(
      Admin admin, Collection<String> topics, OffsetSpec which, ListOffsetsOptions options)
      throws ExecutionException, InterruptedException {
    Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
    KnownTopics.describe(admin, topics)
        .forEach(
            (topic, description) ->
                description
                    .partitions()
                    .forEach(p -> wanted.put(new TopicPartition(topic, p.partition()), which)));
    Map<String, Long> offsets = new TreeMap<>();
    for (Map.Entry<TopicPartition, ListOffsetsResultInfo> entry :
        admin.listOffsets(wanted, options).all().get().entrySet()) {
      offsets.put(name(entry.getKey()), entry.getValue().offset());
    }
    return offsets;
  }

  private static String name(TopicPartition partition) {
    return partition.topic() + ":" + partition.partition();
  }

  public static TopicPartition partition(String name) {
    int colon = name.lastIndexOf(':');
    return new TopicPartition(
        name.substring(0, colon), Integer.parseInt(name.substring(colon + 1)));
  }
}
