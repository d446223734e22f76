package io.streamtable.kafka.read;

import io.streamtable.kafka.client.BackgroundTasks;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.kafka010.KafkaConfigUpdater;
import scala.collection.immutable.Map$;
import scala.jdk.javaapi.CollectionConverters;

/** The consumers of this JVM that no task uses. They are closed after a while. */
final class GroupConsumers {
  private static final long CHECK_MS = TimeUnit.SECONDS.toMillis(15);
  private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final List<Idle> IDLE = new ArrayList<>();

  static {
    BackgroundTasks.every(CHECK_MS, GroupConsumers::closeIdle);
  }

  private GroupConsumers() {}

  private record Idle(GroupConsumer consumer, long since) {}

  /** Returns the idle consumer that has read most of these partitions, or a new consumer. */
  static GroupConsumer take(Map<String, Object> params, Collection<TopicPartition> partitions) {
    Map<String, Object> secured = secured(params);
    synchronized (IDLE) {
      Optional<Idle> best =
          IDLE.stream()
              .filter(idle -> idle.consumer.params().equals(secured))
              .max(Comparator.comparingLong(idle -> idle.consumer.common(partitions)));
      if (best.isPresent()) {
        IDLE.remove(best.get());
        return best.get().consumer;
      }
    }
    return new GroupConsumer(secured);
  }

  /** Takes a consumer back for the next batch. */
  static void put(GroupConsumer consumer) {
    synchronized (IDLE) {
      IDLE.add(new Idle(consumer, System.nanoTime()));
    }
  }

  /** Adds the delegation token, as Spark's consumers do. A renewed token gets a new consumer. */
  private static Map<String, Object> secured(Map<String, Object> params) {
    return new KafkaConfigUpdater(
            "executor", Map$.MODULE$.from(CollectionConverters.asScala(params)))
        .setAuthenticationConfigIfNeeded()
        .build();
  }

  private static void closeIdle() {
    long now = System.nanoTime();
    List<Idle> old;
    synchronized (IDLE) {
      old = IDLE.stream().filter(idle -> now - idle.since > IDLE_NANOS).toList();
      IDLE.removeAll(old);
    }
    old.forEach(idle -> idle.consumer.close());
  }
}
