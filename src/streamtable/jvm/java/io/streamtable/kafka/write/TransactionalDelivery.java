package io.streamtable.kafka.write;

import io.streamtable.kafka.client.KafkaFault;
import io.streamtable.kafka.client.Secrets;
import io.streamtable.source.TaskSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.spark.SparkContext$;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;

/**
 * Exactly-once delivery: a task writes its records of an epoch in one transaction, which also
 * stores the epoch. If the task runs again after the transaction was committed, it finds its epoch
 * and writes nothing.
 *
 * <p>The transactional id is {@code prefix-source}, from the split that the task reads, or
 * {@code prefix-task} if the rows come from state, whose partitions keep their numbers. The epoch
 * is the offset that the consumer group of the same name has committed for partition 0 of the
 * topic, with the job's id and the number of tasks as metadata. If the transaction has several
 * topics, it is the first one. An epoch of another job is ignored, because each job numbers its own
 * epochs. A task without rows begins no transaction; when it runs again, it has no rows either.
 */
final class TransactionalDelivery implements Delivery {
  private final HashMap<String, String> properties;
  private final String topic;
  private final String prefix;
  private final String job;

  private transient TransactionalProducer producer;
  private transient AtomicReference<KafkaFault> failure;
  private transient TaskContext context;
  private transient long task;
  private transient long epoch;
  private transient boolean there;
  private transient boolean begun;
  private transient boolean whole;

  TransactionalDelivery(Map<String, String> properties, String topic, String prefix, String job) {
    this.properties = new HashMap<>(properties);
    this.topic = topic;
    this.prefix = prefix;
    this.job = job;
  }

  // The split that the task reads is known with its first row.
  @Override
  public void begin(long ofTask, long ofEpoch) {
    failure = new AtomicReference<>();
    context = TaskContext.get(); // the buffer's timer thread has no TaskContext
    task = ofTask;
    epoch = ofEpoch;
    there = false;
    begun = false;
    whole = false;
  }

  private TransactionalProducer producer() {
    if (producer != null) {
      return producer;
    }
    String source = TaskSource.of(context);
    String id = prefix + "-" + (source == null ? String.valueOf(task) : source);
    producer = TransactionalProducer.take(properties, id, topic, job);
    TransactionalProducer.Mark last = producer.last();
    there = last != null && last.job().equals(job) && last.epoch() >= epoch;
    if (there && last.epoch() == epoch && last.tasks() != tasks()) {
      throw new KafkaFault(
          "epoch " + epoch + " was written by " + last.tasks() + " tasks and would now be by "
              + tasks() + ", so the records already in the topic are unknown; run the job with the"
              + " parallelism that it had",
          false);
    }
    return producer;
  }

  // The buffer's timer sends from its own thread.
  @Override
  public synchronized boolean send(ProducerRecord<byte[], byte[]> record) {
    check();
    try {
      producer();
      if (!there && !begun) {
        beginTransaction();
      }
      if (!there) {
        // A transaction may have several topics.
        producer.send(record, e -> failure.compareAndSet(null, fault(e).inTopic(record.topic())));
      }
    } catch (KafkaFault fault) {
      throw fault;
    } catch (RuntimeException e) {
      failure.compareAndSet(null, fault(e).inTopic(record.topic()));
    }
    return !there;
  }

  /**
   * Begins a transaction. On a cluster a task may run on one executor, then on another, and then on
   * the first again. The second executor has then fenced out the first one's producer, so the first
   * one creates a new producer. In the driver's own JVM only another run of the job can have fenced
   * the producer out, and this run must leave that run alone.
   */
  private void beginTransaction() {
    try {
      producer.begin(mark());
    } catch (ProducerFencedException | InvalidProducerEpochException e) {
      boolean driver = SparkEnv.get().executorId().equals(SparkContext$.MODULE$.DRIVER_IDENTIFIER());
      if (driver || !producer.kept()) {
        throw e;
      }
      producer.release(false);
      producer = null;
      producer();
      if (there) {
        return;
      }
      producer.begin(mark());
    }
    begun = true;
  }

  private TransactionalProducer.Mark mark() {
    return new TransactionalProducer.Mark(job, epoch, tasks());
  }

  @Override
  public synchronized int partitions(String ofTopic) {
    return producer().partitions(ofTopic);
  }

  @Override
  public synchronized long sendMs() {
    return producer().sendMs();
  }

  @Override
  public synchronized void flush() {
    check();
    if (begun) {
      attempt(producer::flush);
    }
  }

  @Override
  public synchronized void commit() {
    // Flush first: in a commit, Kafka's client would wait for its own longest timeout, not for the
    // timeout of a record.
    flush();
    if (begun) {
      attempt(producer::commit);
    }
    whole = true;
  }

  @Override
  public synchronized void end() {
    if (producer != null) {
      producer.release(whole);
      producer = null;
    }
  }

  @Override
  public long lost() {
    return 0;
  }

  private void attempt(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException e) {
      failure.compareAndSet(null, fault(e));
    }
    check();
  }

  private int tasks() {
    return context == null ? 1 : context.numPartitions();
  }

  private void check() {
    KafkaFault first = failure.get();
    if (first != null) {
      throw first;
    }
  }

  private KafkaFault fault(Exception cause) {
    return new KafkaFault(Secrets.describe(cause, properties), false);
  }
}
