package io.streamtable.kafka.write;

import io.streamtable.kafka.client.ClientPool;
import io.streamtable.kafka.client.KafkaFault;
import io.streamtable.kafka.client.Secrets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Delivery without transactions: at-least-once if the task waits for every record, else no
 * guarantee.
 */
final class PlainDelivery implements Delivery {
  private final String topic;
  private final HashMap<String, String> properties;
  private final boolean waits;

  private transient ClientPool<Producer<byte[], byte[]>>.PooledClient pooled;
  private transient Producer<byte[], byte[]> producer;
  private transient Callback callback;
  private transient AtomicReference<Exception> failure;
  private transient LongAdder lost;
  private transient boolean whole;
  private transient InFlightRecords part;

  PlainDelivery(String topic, Map<String, String> properties, boolean waits) {
    this.topic = topic;
    this.properties = new HashMap<>(properties);
    this.waits = waits;
  }

  @Override
  public void begin(long task, long epoch) {
    failure = new AtomicReference<>();
    lost = new LongAdder();
    whole = false;
    pooled = Producers.borrow(properties);
    producer = pooled.client();
    InFlightRecords begun = InFlightRecords.begin(topic);
    part = begun;
    callback =
        (metadata, e) -> {
          begun.answer();
          remember(e);
        };
  }

  @Override
  public boolean send(ProducerRecord<byte[], byte[]> record) {
    check();
    part.send();
    try {
      producer.send(record, callback);
    } catch (RuntimeException e) {
      part.answer();
      remember(e);
    }
    return true;
  }

  @Override
  public int partitions(String topic) {
    return producer.partitionsFor(topic).size();
  }

  @Override
  public long sendMs() {
    return Producers.sendMs(producer);
  }

  @Override
  public void flush() {
    producer.flush();
    check();
  }

  @Override
  public void commit() {
    flush();
    whole = failure.get() == null;
  }

  @Override
  public void end() {
    if (pooled != null) {
      part.end();
      Producers.release(pooled, !whole);
      pooled = null;
      producer = null;
    }
  }

  @Override
  public long lost() {
    return waits || lost == null ? 0 : lost.sum();
  }

  private void remember(Exception e) {
    if (e != null) {
      failure.compareAndSet(null, e);
      lost.increment();
    }
  }

  private void check() {
    Exception first = failure.get();
    if (first != null && waits) {
      throw new KafkaFault(Secrets.describe(first, properties), false);
    }
  }
}
