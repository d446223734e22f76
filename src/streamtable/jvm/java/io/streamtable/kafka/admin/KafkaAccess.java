package io.streamtable.kafka.admin;

import io.streamtable.kafka.client.KafkaFault;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.CreateTopicsResult;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.TopicExistsException;

/**
 * Checks the user's permissions before a job begins. Calls have the same timeouts as those of
 * {@link KafkaAdmin}, and write nothing. If the brokers refuse to answer, a call throws a
 * {@link KafkaFault}.
 */
public final class KafkaAccess {
  private KafkaAccess() {}

  /**
   * Returns whether the user may perform an operation on an existing topic. Brokers without ACLs
   * allow every operation.
   */
  public static boolean topic(
      Map<String, String> properties, long timeoutMs, String topic, String operation) {
    DescribeTopicsOptions asked = new DescribeTopicsOptions().includeAuthorizedOperations(true);
    return KafkaAdmin.call(
        properties,
        timeoutMs,
        admin -> {
          var found = KnownTopics.describe(admin, List.of(topic), asked).get(topic);
          return allows(found.authorizedOperations(), operation);
        });
  }

  /**
   * Returns whether the user may read with a group. For a group that does not exist yet, the
   * brokers report only whether the user may describe it.
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

  /**
   * Validates the creation of a topic on the brokers without creating the topic.
   *
   * @return the number of partitions that the topic would have; -1 if the topic exists or the
   *     brokers do not report the number
   */
  public static int creation(
      Map<String, String> properties,
      long timeoutMs,
      String topic,
      int partitions,
      int replication,
      Map<String, String> configs) {
    NewTopic wanted = KafkaAdmin.newTopic(topic, partitions, replication, configs);
    CreateTopicsOptions only = new CreateTopicsOptions().validateOnly(true);
    return KafkaAdmin.call(
        properties,
        timeoutMs,
        admin -> {
          CreateTopicsResult found = admin.createTopics(List.of(wanted), only);
          try {
            found.all().get();
          } catch (ExecutionException e) {
            if (e.getCause() instanceof TopicExistsException) {
              return -1;
            }
            throw e;
          }
          try {
            return found.numPartitions(topic).get();
          } catch (ExecutionException e) {
            return -1; // hidden from a user who may not read configurations
          }
        });
  }

  /** Returns whether an operation is allowed. Brokers that report no operations return null. */
  private static boolean allows(Set<AclOperation> operations, String operation) {
    return operations == null || operations.contains(AclOperation.valueOf(operation));
  }
}
