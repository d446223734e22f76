package io.streamtable.kafka.admin;

import io.streamtable.kafka.client.Secrets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Commits the offsets of a consumer group without delaying the job. Commits are sent and not waited
 * for. While a commit is in flight, only the latest of the following commits is kept. Errors are
 * kept for the driver to report; the job does not fail.
 */
public final class GroupOffsets {
  private static final long CLOSE_MS = 5_000;

  private final Admin admin;
  private final String group;
  private final Map<String, String> properties;
  private Map<TopicPartition, OffsetAndMetadata> next;
  private boolean onItsWay;
  private String failure;

  /** Uses a group without members, because Spark's consumers do not join the group. */
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
            next.put(TopicOffsets.partition(name), new OffsetAndMetadata(offset.longValue())));
    send();
  }

  /** Returns the error of the latest commit; null if it succeeded. */
  public synchronized String failure() {
    return failure;
  }

  /** Waits a short time for the commit in flight. */
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
