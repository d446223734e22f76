package io.streamtable.kafka.admin;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthorizationException;

/**
 * Transaction requests of the Python side. Calls have the same timeouts as those of
 * {@link KafkaAdmin}.
 */
public final class KafkaTransactions {
  private static final String LONGEST = "transaction.max.timeout.ms";

  private KafkaTransactions() {}

  /**
   * Returns the longest transaction timeout that the brokers allow, in ms; -1 if the user may not
   * ask.
   */
  public static long longestTimeout(Map<String, String> properties, long timeoutMs) {
    return KafkaAdmin.call(
        properties,
        timeoutMs,
        admin -> {
          Node node = admin.describeCluster().nodes().get().iterator().next();
          ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, node.idString());
          try {
            Config config = admin.describeConfigs(List.of(broker)).all().get().get(broker);
            ConfigEntry entry = config.get(LONGEST);
            return entry == null ? -1L : Long.parseLong(entry.value());
          } catch (ExecutionException e) {
            if (e.getCause() instanceof AuthorizationException) {
              return -1L;
            }
            throw e;
          }
        });
  }

  /**
   * Returns the open transactions whose id begins with a prefix. The map is: id -> state, begin
   * (epoch ms, -1 if unknown), timeout in ms, partitions, separated by tabs.
   */
  public static Map<String, String> open(
      Map<String, String> properties, long timeoutMs, String prefix) {
    return KafkaAdmin.call(properties, timeoutMs, admin -> described(admin, openIds(admin, prefix)));
  }

  /**
   * Aborts the open transactions whose id begins with a prefix, fences out their producers, and
   * returns their ids.
   */
  public static List<String> abort(
      Map<String, String> properties, long timeoutMs, Collection<String> ids) {
    List<String> wanted = List.copyOf(ids);
    return KafkaAdmin.call(
        properties,
        timeoutMs,
        admin -> {
          if (!wanted.isEmpty()) {
            admin.fenceProducers(wanted).all().get();
          }
          return wanted;
        });
  }

  private static List<String> openIds(Admin admin, String prefix)
      throws ExecutionException, InterruptedException {
    Set<TransactionState> states =
        EnumSet.of(
            TransactionState.ONGOING,
            TransactionState.PREPARE_ABORT,
            TransactionState.PREPARE_COMMIT);
    List<String> ids = new ArrayList<>();
    ListTransactionsOptions those = new ListTransactionsOptions().filterStates(states);
    for (TransactionListing found : admin.listTransactions(those).all().get()) {
      if (found.transactionalId().startsWith(prefix)) {
        ids.add(found.transactionalId());
      }
    }
    return ids;
  }

  private static Map<String, String> described(Admin admin, List<String> ids)
      throws ExecutionException, InterruptedException {
    Map<String, String> lines = new TreeMap<>();
    if (ids.isEmpty()) {
      return lines;
    }
    for (Map.Entry<String, TransactionDescription> entry :
        admin.describeTransactions(ids).all().get().entrySet()) {
      TransactionDescription found = entry.getValue();
      String begun = String.valueOf(found.transactionStartTimeMs().orElse(-1));
      List<String> partitions =
          found.topicPartitions().stream().map(String::valueOf).sorted().toList();
      lines.put(
          entry.getKey(),
          String.join(
              "\t",
              found.state().toString(),
              begun,
              String.valueOf(found.transactionTimeoutMs()),
              String.join(", ", partitions)));
    }
    return lines;
  }
}
