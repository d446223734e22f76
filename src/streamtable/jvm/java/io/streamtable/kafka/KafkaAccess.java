package io.streamtable.kafka;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.TopicExistsException;

/**
 * What a user may do, asked before a job begins; calls are bounded as those of KafkaAdmin, and
 * nothing is written. What the brokers refuse to tell ends in a {@link KafkaFault}.
 */
public final class KafkaAccess {
  private KafkaAccess() {}

  /** Whether the user may do something to a topic that exists; brokers without ACLs allow all. */
  public static boolean topic(
      Map<String, String> properties, long timeoutMs, String topic, String operation) {
    DescribeTopicsOptions asked = new DescribeTopicsOptions().includeAuthorizedOperations(true);
    return KafkaAdmin.call(
        properties,
        timeoutMs,
        admin -> {
          var found = admin.describeTopics(List.of(topic), asked).allTopicNames().get().get(topic);
          return allows(found.authorizedOperations(), operation);
        });
  }

  /**
   * Whether the user may read with a group; where it does not exist yet, the brokers tell only
   * whether it may be looked at.
   */
  public static boolean group(Map<String, String> properties, long timeoutMs, String group) {
    DescribeConsumerGroupsOptions asked =
        new DescribeConsumerGroupsOptions().includeAuthorizedOperations(true);
    return KafkaAdmin.call(
        properties,
        timeoutMs,
        admin -> {
          try {
            ConsumerGroupDescription found =
                admin.describeConsumerGroups(List.of(group), asked).all().get().get(group);
            return allows(found.authorizedOperations(), "READ");
          } catch (ExecutionException e) {
            if (e.getCause() instanceof GroupIdNotFoundException) {
              return true;
            }
            throw e;
          }
        });
  }

  /** Lets the brokers check the creation of a topic, which they do not make. */
  public static void creation(
      Map<String, String> properties,
      long timeoutMs,
      String topic,
      int partitions,
      int replication,
      Map<String, String> configs) {
    NewTopic wanted = KafkaAdmin.newTopic(topic, partitions, replication, configs);
    CreateTopicsOptions only = new CreateTopicsOptions().validateOnly(true);
    KafkaAdmin.call(
        properties,
        timeoutMs,
        admin -> {
          try {
            return admin.createTopics(List.of(wanted), only).all().get();
          } catch (ExecutionException e) {
            if (e.getCause() instanceof TopicExistsException) {
              return null;
            }
            throw e;
          }
        });
  }

  /** Null comes from brokers that do not tell. */
  private static boolean allows(Set<AclOperation> operations, String operation) {
    return operations == null || operations.contains(AclOperation.valueOf(operation));
  }
}
