package io.streamtable.kafka;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Without transactions: at least once where every record is waited for, else no promise at all. */
final class PlainDelivery implements Delivery {
  private final String topic;
  private final HashMap<String, String> properties;
  private final boolean waits;

  private transient Producers.Lent lent;
  private transient Callback callback;
  private transient AtomicReference<Exception> failure;
  private transient LongAdder lost;
  private transient boolean whole;
  private transient Unsettled part;

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
    lent = Producers.borrow(properties);
    Unsettled begun = Unsettled.begin(topic);
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
      lent.producer.send(record, callback);
    } catch (RuntimeException e) {
      part.answer();
      remember(e);
    }
    return true;
  }

  @Override
  public int partitions(String topic) {
    return lent.producer.partitionsFor(topic).size();
  }

  @Override
  public long sendMs() {
    return Producers.sendMs(lent.producer);
  }

  @Override
  public void commit() {
    lent.producer.flush();
    check();
    whole = failure.get() == null;
  }

  @Override
  public void end() {
    if (lent != null) {
      part.end();
      Producers.giveBack(properties, lent, !whole);
      lent = null;
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
