package io.streamtable.kafka.write;

import io.streamtable.kafka.admin.AdminClients;
import io.streamtable.kafka.admin.KafkaAdmin;
import io.streamtable.kafka.client.BackgroundTasks;
import io.streamtable.kafka.client.KafkaFault;
import io.streamtable.kafka.client.Secrets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A producer of one transactional id, with the mark of its last transaction. It stays alive between
 * the epochs of a task, because a new producer costs several requests and half a second.
 *
 * <p>A JVM that takes an id that another JVM uses fences the other one out; the next call of the
 * other one fails.
 */
final class TransactionalProducer {
  private static final Duration ABORT_WAIT = Duration.ofSeconds(5);
  private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final Map<Map<String, String>, TransactionalProducer> IDLE = new HashMap<>();

  static {
    BackgroundTasks.every(TimeUnit.MINUTES.toMillis(1), TransactionalProducer::closeIdle);
  }

  /**
   * The mark that a transaction stores: the job, the epoch and the number of tasks of the epoch.
   */
  record Mark(String job, long epoch, int tasks) {
    private OffsetAndMetadata written() {
      return new OffsetAndMetadata(epoch, job + " " + tasks);
    }

    private static Mark read(OffsetAndMetadata found) {
      if (found == null) {
        return null;
      }
      String[] parts = found.metadata().split(" ");
      // A commit by another tool says nothing about our epochs.
      return parts.length == 2 && parts[1].matches("\\d{1,9}")
          ? new Mark(parts[0], found.offset(), Integer.parseInt(parts[1]))
          : null;
    }
  }

  private final Map<String, String> key;
  private final String id;
  private final TopicPartition place;
  private final KafkaProducer<byte[], byte[]> producer;
  private Mark last;
  private Mark next;
  private boolean kept;
  private long idleSince;

  private TransactionalProducer(
      Map<String, String> properties, String id, String topic, String job) {
    this.key = key(properties, id, topic);
    this.id = id;
    this.place = new TopicPartition(topic, 0);
    Map<String, Object> config = new HashMap<>(properties);
    config.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, id);
    ByteArraySerializer bytes = new ByteArraySerializer();
    producer = new KafkaProducer<>(config, bytes, bytes);
    try {
      // Aborts transactions that an earlier producer of this id left open, so that its commits can
      // be read.
      producer.initTransactions();
      last = read(properties, job);
    } catch (RuntimeException e) {
      producer.close(Duration.ZERO);
      throw e;
    }
  }

  /** Returns the producer of an id: the idle producer, or a new one with the last mark of a job. */
  static TransactionalProducer take(
      Map<String, String> properties, String id, String topic, String job) {
    synchronized (IDLE) {
      TransactionalProducer idle = IDLE.remove(key(properties, id, topic));
      if (idle != null) {
        return idle;
      }
    }
    try {
      return new TransactionalProducer(properties, id, topic, job);
    } catch (RuntimeException e) {
      throw new KafkaFault(Secrets.describe(e, properties), false);
    }
  }

  /** Returns the mark of the last committed transaction of this id; null if there is none. */
  Mark last() {
    return last;
  }

  /**
   * Returns whether the producer has written before, so that another JVM may have taken its id
   * since.
   */
  boolean kept() {
    return kept;
  }

  /**
   * Begins a transaction with its mark. Readers see the mark and the records only after the commit.
   * A producer that was fenced out fails here, before it sends a record.
   */
  void begin(Mark mark) {
    producer.beginTransaction();
    producer.sendOffsetsToTransaction(
        Map.of(place, mark.written()), new ConsumerGroupMetadata(id));
    next = mark;
  }

  /** Waits for all sent records. Their callbacks have received all failures by then. */
  void flush() {
    producer.flush();
  }

  int partitions(String topic) {
    return producer.partitionsFor(topic).size();
  }

  long sendMs() {
    return Producers.sendMs(producer);
  }

  void send(ProducerRecord<byte[], byte[]> record, Consumer<Exception> failed) {
    producer.send(
        record,
        (metadata, e) -> {
          if (e != null) {
            failed.accept(e);
          }
        });
  }

  /** Commits the flushed records together with the mark. */
  void commit() {
    try {
      producer.commitTransaction();
    } catch (TimeoutException e) {
      producer.commitTransaction(); // as Kafka documents: the answer may only be late
    }
    last = next;
  }

  /**
   * Keeps the producer for the next epoch. After a failure, closes it, which aborts the open
   * transaction.
   */
  void release(boolean usable) {
    if (usable) {
      kept = true;
      idleSince = System.nanoTime();
      TransactionalProducer other;
      synchronized (IDLE) {
        other = IDLE.put(key, this);
      }
      if (other != null) {
        other.producer.close(Duration.ZERO);
      }
      return;
    }
    try {
      producer.close(ABORT_WAIT);
    } catch (InterruptException e) {
      Thread.currentThread().interrupt(); // the task is killed; the next start aborts it
    } catch (KafkaException e) {
      // The user needs to see the original failure.
    }
  }

  /**
   * Returns the newest mark of a job. An earlier run of a statement set may have marked its epochs
   * by another topic of the set.
   */
  private Mark read(Map<String, String> properties, String job) {
    // Only this id uses the group. Stable offsets wait for a commit in progress.
    ListConsumerGroupOffsetsOptions stable =
        new ListConsumerGroupOffsetsOptions().requireStable(true);
    try {
      return AdminClients.ask(
              KafkaAdmin.known(properties),
              admin ->
                  admin.listConsumerGroupOffsets(id, stable).partitionsToOffsetAndMetadata().get())
          .values()
          .stream()
          .map(Mark::read)
          .filter(mark -> mark != null && mark.job().equals(job))
          .max(Comparator.comparingLong(Mark::epoch))
          .orElse(null);
    } catch (ExecutionException e) {
      throw new KafkaException(e.getCause());
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
  }

  private static Map<String, String> key(Map<String, String> properties, String id, String topic) {
    Map<String, String> key = new HashMap<>(properties);
    key.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, id);
    key.put("topic", topic);
    return key;
  }

  private static void closeIdle() {
    long now = System.nanoTime();
    List<TransactionalProducer> old = new ArrayList<>();
    synchronized (IDLE) {
      IDLE.values().stream().filter(p -> now - p.idleSince > IDLE_NANOS).forEach(old::add);
      IDLE.values().removeAll(old);
    }
    old.forEach(idle -> idle.producer.close(Duration.ZERO));
  }
}
