package io.streamtable.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Tells a cluster how far a group has come, beside a job and without ever holding it up: commits are
 * sent and not waited for, and where one is still on its way, only the latest of the next ones
 * follows. What Kafka refuses is kept for the driver to tell; a job does not fail for it.
 */
public final class GroupOffsets {
  private static final long CLOSE_MS = 5_000;

  private final Admin admin;
  private final String group;
  private final Map<String, String> properties;
  private Map<TopicPartition, OffsetAndMetadata> next;
  private boolean onItsWay;
  private String failure;

  /** A group without members, as Spark's consumers do not join it. */
  public GroupOffsets(Map<String, String> properties, String group) {
    this.properties = new HashMap<>(properties);
    this.group = group;
    this.admin = Admin.create(KafkaAdmin.known(properties));
  }

  /** Commits the next offset to read of each "topic:partition". */
  public synchronized void commit(Map<String, ? extends Number> offsets) {
    next = new HashMap<>();
    offsets.forEach(
        (name, offset) ->
            next.put(KafkaAdmin.partition(name), new OffsetAndMetadata(offset.longValue())));
    send();
  }

  /** What the latest commit failed by; null where it did not. */
  public synchronized String failure() {
    return failure;
  }

  /** Waits a short while for what is on its way. */
  public synchronized void close() throws InterruptedException {
    long end = System.nanoTime() + CLOSE_MS * 1_000_000L;
    for (long left = CLOSE_MS; onItsWay && left > 0; left = (end - System.nanoTime()) / 1_000_000L) {
      wait(left);
    }
    admin.close(Duration.ZERO);
  }

  private void send() {
    if (onItsWay || next == null) {
      return;
    }
    onItsWay = true;
    Map<TopicPartition, OffsetAndMetadata> sent = next;
    next = null;
    admin.alterConsumerGroupOffsets(group, sent).all().whenComplete((done, e) -> answered(e));
  }

  private synchronized void answered(Throwable e) {
    failure = e == null ? null : Secrets.describe(e, properties);
    onItsWay = false;
    send();
    notifyAll();
  }
}
