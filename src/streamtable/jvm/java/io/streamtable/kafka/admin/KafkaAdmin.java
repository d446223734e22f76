package io.streamtable.kafka.admin;

import io.streamtable.kafka.client.Bootstrap;
import io.streamtable.kafka.client.KafkaFault;
import io.streamtable.kafka.client.Secrets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigsOptions;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Cluster requests of the Python side, made with the Java client. The Java client interprets the
 * user's `properties.*`, logins included, exactly as Spark's source does; no other client would.
 *
 * <p>Every call is bounded by its timeout, first for a connection and then for each answer. A call
 * that fails throws a {@link KafkaFault}.
 */
public final class KafkaAdmin {
  private static final List<String> CLEANING =
      List.of(
          TopicConfig.CLEANUP_POLICY_CONFIG,
          TopicConfig.MIN_COMPACTION_LAG_MS_CONFIG,
          TopicConfig.RETENTION_MS_CONFIG,
          TopicConfig.DELETE_RETENTION_MS_CONFIG);

  private KafkaAdmin() {}

  /** A request to the cluster. */
  public interface Call<T> {
    T ask(Admin admin) throws ExecutionException, InterruptedException;
  }

  /** Returns the sorted names of all topics that the user may see, without internal topics. */
  public static List<String> existingTopics(Map<String, String> properties, long timeoutMs) {
    return call(
        properties, timeoutMs, admin -> admin.listTopics().names().get().stream().sorted().toList());
  }

  /** Returns the id of the cluster; null if the brokers report none. */
  public static String clusterId(Map<String, String> properties, long timeoutMs) {
    return call(properties, timeoutMs, admin -> admin.describeCluster().clusterId().get());
  }

  /** Returns the existing topics whose whole name matches a pattern. */
  public static List<String> topicsMatching(
      Map<String, String> properties, long timeoutMs, String regex) {
    Pattern pattern;
    try {
      pattern = Pattern.compile(regex);
    } catch (PatternSyntaxException e) {
      throw new KafkaFault("'" + regex + "' is no Java pattern: " + e.getDescription(), false);
    }
    return existingTopics(properties, timeoutMs).stream()
        .filter(topic -> pattern.matcher(topic).matches())
        .toList();
  }

  /** Returns whether a regular expression matches a whole name. */
  public static boolean matches(String regex, String topic) {
    return Pattern.matches(regex, topic);
  }

  /**
   * Returns a topic's "partitions", "replication", "id" and the settings of its cleanup. The map is
   * empty if the topic does not exist. The settings are absent if the user may not read them.
   *
   * @param waitMs the longest wait for a topic that the broker does not know
   */
  public static Map<String, String> describe(
      Map<String, String> properties, long timeoutMs, String topic, long waitMs) {
    return call(
        properties,
        timeoutMs,
        admin -> {
          Map<String, String> found = new HashMap<>();
          try {
            TopicDescription description =
                KnownTopics.describe(admin, List.of(topic), new DescribeTopicsOptions(), waitMs)
                    .get(topic);
            int replicas = description.partitions().get(0).replicas().size();
            found.put("partitions", String.valueOf(description.partitions().size()));
            found.put("replication", String.valueOf(replicas));
            found.put("id", description.topicId().toString());
          } catch (ExecutionException e) {
            if (e.getCause() instanceof UnknownTopicOrPartitionException) {
              return found;
            }
            throw e;
          }
          found.putAll(cleaning(admin, topic));
          return found;
        });
  }

  /** Returns Kafka's ids of those topics that exist. */
  public static Map<String, String> topicIds(
      Map<String, String> properties, long timeoutMs, List<String> topics) {
    return call(
        properties,
        timeoutMs,
        admin -> {
          Map<String, String> found = new HashMap<>();
          for (var asked : admin.describeTopics(topics).topicNameValues().entrySet()) {
            try {
              found.put(asked.getKey(), asked.getValue().get().topicId().toString());
            } catch (ExecutionException e) {
              if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
                throw e;
              }
            }
          }
          return found;
        });
  }

  private static Map<String, String> cleaning(Admin admin, String topic)
      throws InterruptedException {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    Map<String, String> found = new HashMap<>();
    try {
      Config config = admin.describeConfigs(List.of(resource)).all().get().get(resource);
      for (String name : CLEANING) {
        ConfigEntry entry = config.get(name);
        if (entry != null) {
          found.put(name, entry.value());
        }
      }
    } catch (ExecutionException e) {
      return found;
    }
    return found;
  }

  /**
   * Changes entries of a topic's configuration.
   *
   * @param checkOnly whether the brokers only check the request, with its rights and their policy
   */
  public static void setConfigs(
      Map<String, String> properties,
      long timeoutMs,
      String topic,
      Map<String, String> configs,
      boolean checkOnly) {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    List<AlterConfigOp> changes =
        configs.entrySet().stream()
            .map(entry -> new ConfigEntry(entry.getKey(), entry.getValue()))
            .map(entry -> new AlterConfigOp(entry, AlterConfigOp.OpType.SET))
            .toList();
    call(
        properties,
        timeoutMs,
        admin -> {
          AlterConfigsOptions options = new AlterConfigsOptions().validateOnly(checkOnly);
          admin.incrementalAlterConfigs(Map.of(resource, changes), options).all().get();
          return null;
        });
  }

  /**
   * Creates a topic and waits until the brokers describe it. Does not create the topic if it exists
   * already.
   *
   * @param partitions number of partitions; -1 for the brokers' default
   * @param replication replication factor; -1 for the brokers' default
   */
  public static void createTopic(
      Map<String, String> properties,
      long timeoutMs,
      String topic,
      int partitions,
      int replication,
      Map<String, String> configs) {
    NewTopic wanted = newTopic(topic, partitions, replication, configs);
    call(
        properties,
        timeoutMs,
        admin -> {
          try {
            admin.createTopics(List.of(wanted)).all().get();
          } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) {
              throw e;
            }
          }
          awaitDescribed(admin, topic, timeoutMs);
          return null;
        });
  }

  private static void awaitDescribed(Admin admin, String topic, long timeoutMs)
      throws ExecutionException, InterruptedException {
    try {
      KnownTopics.describe(admin, List.of(topic), new DescribeTopicsOptions(), timeoutMs);
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof AuthorizationException)) {
        throw e;
      }
    }
  }

  static NewTopic newTopic(
      String topic, int partitions, int replication, Map<String, String> configs) {
    NewTopic wanted =
        new NewTopic(
            topic,
            partitions < 0 ? Optional.empty() : Optional.of(partitions),
            replication < 0 ? Optional.empty() : Optional.of((short) replication));
    return wanted.configs(new HashMap<>(configs));
  }

  static <T> T call(Map<String, String> properties, long timeoutMs, Call<T> call) {
    Bootstrap.await(properties, timeoutMs);
    boolean[] made = {false};
    try {
      return AdminClients.ask(
          bounded(properties, timeoutMs),
          admin -> {
            made[0] = true;
            return call.ask(admin);
          });
    } catch (ExecutionException e) {
      throw KafkaFault.of(e.getCause(), properties);
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    } catch (KafkaFault e) {
      throw e;
    } catch (RuntimeException e) {
      // If the settings are valid but no client can be created, a key store or the like is missing.
      boolean login = !made[0] && !(e instanceof ConfigException);
      KafkaFault.Kind kind = login ? KafkaFault.Kind.LOGIN : KafkaFault.Kind.OTHER;
      throw new KafkaFault(Secrets.describe(e, properties), kind);
    }
  }

  /**
   * Returns the client properties that an admin client knows. Each other property would log a
   * warning.
   */
  public static Map<String, Object> known(Map<String, String> properties) {
    Map<String, Object> config = new HashMap<>();
    Set<String> known = AdminClientConfig.configNames();
    properties.forEach(
        (key, value) -> {
          if (known.contains(key) || key.startsWith("sasl.") || key.startsWith("ssl.")) {
            config.put(key, value);
          }
        });
    return config;
  }

  private static Map<String, Object> bounded(Map<String, String> properties, long timeoutMs) {
    Map<String, Object> config = known(properties);
    String timeout = String.valueOf(timeoutMs);
    config.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, timeout);
    config.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, timeout);
    config.putIfAbsent(AdminClientConfig.RECONNECT_BACKOFF_MS_CONFIG, "1000");
    return config;
  }
}
