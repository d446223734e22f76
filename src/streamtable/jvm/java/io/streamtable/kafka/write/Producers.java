package io.streamtable.kafka.write;

import io.streamtable.kafka.client.ClientPool;
import io.streamtable.kafka.client.KafkaFault;
import io.streamtable.kafka.client.Secrets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Lends one producer per JVM and set of properties to tasks, because a task lives for one
 * micro-batch.
 */
final class Producers {
  private static final ClientPool<Producer<byte[], byte[]>> SHARED =
      new ClientPool<>(
          Producers::connect,
          producer -> producer.close(Duration.ZERO),
          TimeUnit.MINUTES.toMillis(5));

  private Producers() {}

  /** Returns the producer's average time in the queue plus its average request time, in ms. */
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

  /** Borrows a producer. Throws a KafkaFault if none can be created. */
  static ClientPool<Producer<byte[], byte[]>>.PooledClient borrow(Map<String, String> properties) {
    try {
      return SHARED.borrow(properties);
    } catch (RuntimeException e) {
      throw new KafkaFault(Secrets.describe(e, properties), false);
    }
  }

  static void release(ClientPool<Producer<byte[], byte[]>>.PooledClient pooled, boolean failed) {
    SHARED.release(pooled, failed);
  }

  private static Producer<byte[], byte[]> connect(Map<String, Object> properties) {
    ByteArraySerializer bytes = new ByteArraySerializer();
    return new KafkaProducer<>(new HashMap<>(properties), bytes, bytes);
  }
}
