package io.streamtable.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * One producer per JVM and set of properties, lent to tasks: a task lives for one micro-batch, and
 * connecting in each would cost more than most batches. Idle ones are closed.
 */
final class Producers {
  private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final Map<Map<String, String>, Lent> SHARED = new HashMap<>();
  private static final ScheduledExecutorService BACKGROUND =
      Executors.newSingleThreadScheduledExecutor(
          work -> {
            Thread thread = new Thread(work, "streamtable-kafka-writer");
            thread.setDaemon(true);
            return thread;
          });

  static {
    BACKGROUND.scheduleWithFixedDelay(Producers::closeIdle, 1, 1, TimeUnit.MINUTES);
  }

  private Producers() {}

  /** A producer in use by some tasks. */
  static final class Lent {
    final Producer<byte[], byte[]> producer;
    private int users;
    private long idleSince;

    private Lent(Producer<byte[], byte[]> producer) {
      this.producer = producer;
    }
  }

  /** Timers of writers and the closing of idle producers share one thread; work there is short. */
  static ScheduledExecutorService background() {
    return BACKGROUND;
  }

  /** The waiting in the queue and the request together, as the producer averages them. */
  static long sendMs(Producer<byte[], byte[]> producer) {
    double sum = 0;
    for (Metric metric : producer.metrics().values()) {
      String name = metric.metricName().name();
      boolean of = metric.metricName().group().equals("producer-metrics");
      if (of && (name.equals("request-latency-avg") || name.equals("record-queue-time-avg"))) {
        double value = ((Number) metric.metricValue()).doubleValue();
        sum += Double.isNaN(value) ? 0 : value;
      }
    }
    return Math.round(sum);
  }

  static synchronized Lent borrow(Map<String, String> properties) {
    Lent lent = SHARED.get(properties);
    if (lent == null) {
      lent = new Lent(connect(properties));
      SHARED.put(properties, lent);
    }
    lent.users++;
    return lent;
  }

  /** Gives a producer back; one that failed is not lent again, as some failures are for good. */
  static void giveBack(Map<String, String> properties, Lent lent, boolean failed) {
    boolean close;
    synchronized (Producers.class) {
      lent.users--;
      lent.idleSince = System.nanoTime();
      if (failed) {
        SHARED.remove(properties, lent);
      }
      close = lent.users == 0 && SHARED.get(properties) != lent;
    }
    if (close) {
      lent.producer.close(Duration.ZERO);
    }
  }

  private static Producer<byte[], byte[]> connect(Map<String, String> properties) {
    try {
      ByteArraySerializer bytes = new ByteArraySerializer();
      return new KafkaProducer<>(new HashMap<>(properties), bytes, bytes);
    } catch (RuntimeException e) {
      throw new KafkaFault(Secrets.describe(e, properties), false);
    }
  }

  private static synchronized void closeIdle() {
    long now = System.nanoTime();
    SHARED
        .values()
        .removeIf(
            lent -> {
              boolean idle = lent.users == 0 && now - lent.idleSince > IDLE_NANOS;
              if (idle) {
                lent.producer.close(Duration.ZERO);
              }
              return idle;
            });
  }
}
