package io.streamtable.kafka.read;

import io.streamtable.kafka.admin.KafkaAdmin;
import io.streamtable.kafka.admin.KnownTopics;
import io.streamtable.kafka.client.KafkaFault;
import io.streamtable.source.Positions;
import io.streamtable.watermarks.Splits;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;

/** The partitions of topics as splits "topic/partition". One client stays open until the end. */
public final class KafkaSplits implements Splits {
  /**
   * The number of attempts; Spark's source also asks for offsets this often before a query ends.
   */
  private static final int ATTEMPTS = 3;

  private final Map<String, String> properties;
  private final List<String> topics;
  private final Pattern pattern;
  private Admin admin;

  /**
   * Creates the splits without a request to the cluster.
   *
   * @param topics names of topics; ignored if there is a pattern
   * @param pattern pattern of the whole names of topics; null if topics are named
   */
  public KafkaSplits(Map<String, String> properties, List<String> topics, String pattern) {
    this.properties = new HashMap<>(properties);
    this.topics = new ArrayList<>(topics);
    this.pattern = pattern == null ? null : Pattern.compile(pattern);
  }

  @Override
  public Set<String> unread(String reached) {
    Positions positions = KafkaOffsets.parse(reached);
    return ask(
        client -> {
          List<TopicPartition> there = partitions(client);
          List<TopicPartition> unknown =
              there.stream().filter(p -> positions.at(name(p), -1) < 0).toList();
          Map<TopicPartition, Long> begins = offsets(client, unknown, OffsetSpec.earliest());
          Set<String> found = new HashSet<>();
          offsets(client, there, OffsetSpec.latest())
              .forEach(
                  (partition, end) -> {
                    long begin = begins.getOrDefault(partition, 0L);
                    if (end > positions.at(name(partition), begin)) {
                      found.add(id(partition));
                    }
                  });
          return found;
        });
  }

  @Override
  public synchronized void close() {
    if (admin != null) {
      admin.close(Duration.ZERO);
      admin = null;
    }
  }

  private synchronized <T> T ask(KafkaAdmin.Call<T> call) {
    try {
      for (int attempt = 1; ; attempt++) {
        try {
          if (admin == null) {
            admin = Admin.create(KafkaAdmin.known(properties));
          }
          return call.ask(admin);
        } catch (ExecutionException e) {
          if (attempt == ATTEMPTS || !(e.getCause() instanceof RetriableException)) {
            throw KafkaFault.of(e.getCause(), properties);
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      // Spark treats this exception as the end of a query that is stopped.
      throw new UncheckedIOException(new InterruptedIOException("stopped while asking for splits"));
    }
  }

  private List<TopicPartition> partitions(Admin client)
      throws ExecutionException, InterruptedException {
    Collection<String> wanted = topics;
    if (pattern != null) {
      wanted =
          client.listTopics().names().get().stream()
              .filter(topic -> pattern.matcher(topic).matches())
              .toList();
    }
    List<TopicPartition> found = new ArrayList<>();
    KnownTopics.describe(client, wanted)
        .forEach(
            (topic, description) ->
                description
                    .partitions()
                    .forEach(p -> found.add(new TopicPartition(topic, p.partition()))));
    return found;
  }

  private Map<TopicPartition, Long> offsets(
      Admin client, List<TopicPartition> partitions, OffsetSpec which)
      throws ExecutionException, InterruptedException {
    Map<TopicPartition, Long> found = new HashMap<>();
    if (partitions.isEmpty()) {
      return found;
    }
    Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
    partitions.forEach(partition -> wanted.put(partition, which));
    for (Map.Entry<TopicPartition, ListOffsetsResultInfo> entry :
        client.listOffsets(wanted, new ListOffsetsOptions(isolation())).all().get().entrySet()) {
      found.put(entry.getKey(), entry.getValue().offset());
    }
    return found;
  }

  /** Returns the isolation level of the source's consumers. */
  private IsolationLevel isolation() {
    String level = properties.get(ConsumerConfig.ISOLATION_LEVEL_CONFIG);
    return level == null
        ? IsolationLevel.READ_UNCOMMITTED
        : IsolationLevel.valueOf(level.toUpperCase(Locale.ROOT));
  }

  private static String id(TopicPartition partition) {
    return partition.topic() + "/" + partition.partition();
  }

  private static String name(TopicPartition partition) {
    return partition.topic() + ":" + partition.partition();
  }
}
