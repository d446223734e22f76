package io.streamtable.kafka.admin;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Descriptions of topics that exist, although a broker may not know them yet.
 *
 * <p>The controller confirms a creation before all brokers have read it from the metadata log. Until
 * then, a broker reports that the topic does not exist.
 */
public final class KnownTopics {
  /** The longest wait for a topic that may have been created a moment ago. */
  private static final long NEW_WITHIN_MS = 2_000;

  private static final long ASKED_AGAIN_AFTER_MS = 20;

  private KnownTopics() {}

  /** Describes topics; waits a moment for those that the broker does not know. */
  public static Map<String, TopicDescription> describe(Admin admin, Collection<String> topics)
      throws ExecutionException, InterruptedException {
    return describe(admin, topics, new DescribeTopicsOptions(), NEW_WITHIN_MS);
  }

  static Map<String, TopicDescription> describe(
      Admin admin, Collection<String> topics, DescribeTopicsOptions options)
      throws ExecutionException, InterruptedException {
    return describe(admin, topics, options, NEW_WITHIN_MS);
  }

  /** Describes topics; waits up to a limit for those that the broker does not know. */
  static Map<String, TopicDescription> describe(
      Admin admin, Collection<String> topics, DescribeTopicsOptions options, long waitMs)
      throws ExecutionException, InterruptedException {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs);
    while (true) {
      try {
        return admin.describeTopics(topics, options).allTopicNames().get();
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof UnknownTopicOrPartitionException)
            || System.nanoTime() > until) {
          throw e;
        }
        Thread.sleep(ASKED_AGAIN_AFTER_MS);
      }
    }
  }
}
