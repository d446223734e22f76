package io.streamtable.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
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
 * A producer of one transactional id with the mark that its last transaction left. It stays alive
 * between the epochs of a task: to begin anew costs a round of questions and half a second.
 *
 * <p>Whoever takes an id that another JVM holds fences the other out; its next call fails.
 */
final class TransactionalProducer {
  private static final Duration ABORT_WAIT = Duration.ofSeconds(5);
  private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final Map<Map<String, String>, TransactionalProducer> IDLE = new HashMap<>();

  static {
    Producers.background()
        .scheduleWithFixedDelay(TransactionalProducer::closeIdle, 1, 1, TimeUnit.MINUTES);
  }

  /** What a transaction records of itself: whose it is, the epoch, how many tasks the epoch had. */
  record Mark(String job, long epoch, int tasks) {
    private OffsetAndMetadata written() {
      return new OffsetAndMetadata(epoch, job + " " + tasks);
    }

    private static Mark read(OffsetAndMetadata found) {
      if (found == null) {
        return null;
      }
      String[] parts = found.metadata().split(" ");
      // A commit that is not ours, made by some tool, says nothing about our epochs.
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

  private TransactionalProducer(Map<String, String> properties, String id, String topic) {
    this.key = key(properties, id, topic);
    this.id = id;
    this.place = new TopicPartition(topic, 0);
    Map<String, Object> config = new HashMap<>(properties);
    config.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, id);
    ByteArraySerializer bytes = new ByteArraySerializer();
    producer = new KafkaProducer<>(config, bytes, bytes);
    try {
      // Ends what an earlier producer of this id left open; what it committed can be read then.
      producer.initTransactions();
      last = read(properties);
    } catch (RuntimeException e) {
      producer.close(Duration.ZERO);
      throw e;
    }
  }

  /** The producer of an id: the one that is idle, or a new one. */
  static TransactionalProducer take(Map<String, String> properties, String id, String topic) {
    synchronized (IDLE) {
      TransactionalProducer idle = IDLE.remove(key(properties, id, topic));
      if (idle != null) {
        return idle;
      }
    }
    try {
      return new TransactionalProducer(properties, id, topic);
    } catch (RuntimeException e) {
      throw new KafkaFault(Secrets.describe(e, properties), false);
    }
  }

  /** What the last committed transaction of this id recorded; null if there was none. */
  Mark last() {
    return last;
  }

  /** Whether it has written before, so that another JVM may have taken its id since. */
  boolean kept() {
    return kept;
  }

  /**
   * Begins a transaction with its mark: a reader sees both with the commit only, and a producer that
   * was fenced out learns of it before it has sent a record.
   */
  void begin(Mark mark) {
    producer.beginTransaction();
    producer.sendOffsetsToTransaction(
        Map.of(place, mark.written()), new ConsumerGroupMetadata(id));
    next = mark;
  }

  /** Waits for what was sent, and has told those who sent of failures. */
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

  /** Commits what was flushed, together with the mark. */
  void commit() {
    try {
      producer.commitTransaction();
    } catch (TimeoutException e) {
      producer.commitTransaction(); // as its documentation asks: the answer may only be late
    }
    last = next;
  }

  /** Keeps it for the next epoch, or, after a failure, closes it, which aborts what is open. */
  void giveBack(boolean usable) {
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
      Thread.currentThread().interrupt(); // a task that is killed; the next start aborts the rest
    } catch (KafkaException e) {
      // The failure that led here is what the user needs to see.
    }
  }

  private Mark read(Map<String, String> properties) {
    // The group is this id's own, and stable offsets wait for a commit that is under way.
    ListConsumerGroupOffsetsOptions stable =
        new ListConsumerGroupOffsetsOptions().requireStable(true);
    try (Admin admin = Admin.create(KafkaAdmin.known(properties))) {
      return Mark.read(
          admin
              .listConsumerGroupOffsets(id, stable)
              .partitionsToOffsetAndMetadata()
              .get()
              .get(place));
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
    synchronized (IDLE) {
      IDLE.values()
          .removeIf(
              idle -> {
                boolean old = now - idle.idleSince > IDLE_NANOS;
                if (old) {
                  idle.producer.close(Duration.ZERO);
                }
                return old;
              });
    }
  }
}
