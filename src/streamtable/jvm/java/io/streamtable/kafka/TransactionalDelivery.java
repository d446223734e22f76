package io.streamtable.kafka;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.spark.TaskContext;

/**
 * Exactly once: what a task writes in an epoch is one transaction, which also records the epoch. A
 * task that runs again after the transaction was committed finds its epoch there and writes nothing.
 *
 * <p>The transactional id is {@code prefix-task}; the epoch is the offset that the consumer group of
 * the same name has committed for partition 0 of the topic, with the job's id and the number of
 * tasks as metadata. An epoch of another job, which has numbers of its own, counts for nothing.
 * A task without rows begins no transaction: when it runs again it has none either.
 */
final class TransactionalDelivery implements Delivery {
  private final HashMap<String, String> properties;
  private final String topic;
  private final String prefix;
  private final String job;

  private transient TransactionalProducer producer;
  private transient AtomicReference<Exception> failure;
  private transient long epoch;
  private transient boolean begun;
  private transient boolean whole;

  TransactionalDelivery(Map<String, String> properties, String topic, String prefix, String job) {
    this.properties = new HashMap<>(properties);
    this.topic = topic;
    this.prefix = prefix;
    this.job = job;
  }

  @Override
  public boolean begin(long task, long epochId) {
    failure = new AtomicReference<>();
    epoch = epochId;
    begun = false;
    whole = false;
    producer = TransactionalProducer.take(properties, prefix + "-" + task, topic);
    TransactionalProducer.Mark last = producer.last();
    if (last == null || !last.job().equals(job) || last.epoch() < epoch) {
      return true;
    }
    whole = true;
    if (last.epoch() == epoch && last.tasks() != tasks()) {
      end();
      throw new KafkaFault(
          "epoch " + epoch + " was written by " + last.tasks() + " tasks and would now be by "
              + tasks() + ", so what is in the topic already cannot be told; run the job with the"
              + " parallelism that it had",
          false);
    }
    return false;
  }

  // The buffer's timer sends from a thread of its own.
  @Override
  public synchronized void send(ProducerRecord<byte[], byte[]> record) {
    check();
    try {
      if (!begun) {
        producer.begin();
        begun = true;
      }
      producer.send(record, e -> failure.compareAndSet(null, e));
    } catch (RuntimeException e) {
      failure.compareAndSet(null, e);
    }
  }

  @Override
  public int partitions(String ofTopic) {
    return producer.partitions(ofTopic);
  }

  @Override
  public long sendMs() {
    return producer.sendMs();
  }

  @Override
  public synchronized void commit() {
    check();
    if (begun) {
      try {
        producer.commit(new TransactionalProducer.Mark(job, epoch, tasks()));
      } catch (RuntimeException e) {
        failure.compareAndSet(null, e);
      }
      check();
    }
    whole = true;
  }

  @Override
  public synchronized void end() {
    if (producer != null) {
      producer.giveBack(whole);
      producer = null;
    }
  }

  @Override
  public long lost() {
    return 0;
  }

  private static int tasks() {
    TaskContext task = TaskContext.get();
    return task == null ? 1 : task.numPartitions();
  }

  private void check() {
    Exception first = failure.get();
    if (first != null) {
      throw new KafkaFault(Secrets.describe(first, properties), false);
    }
  }
}
