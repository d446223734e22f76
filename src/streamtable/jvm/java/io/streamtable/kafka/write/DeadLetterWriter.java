package io.streamtable.kafka.write;

import io.streamtable.kafka.client.ClientPool;
import io.streamtable.kafka.client.KafkaFault;
import io.streamtable.kafka.client.Secrets;
import io.streamtable.source.DeadLetters;
import io.streamtable.source.SourceRecord;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Writes records that cannot be parsed to another topic. The key, value and headers stay unchanged;
 * added headers name the source and the error.
 *
 * <p>Records are sent while a task reads. A task listener waits for them when the task ends. If the
 * listener throws, the task and its batch fail, so that no batch is committed before Kafka has all
 * of its dead letters. A batch that runs again writes its dead letters again.
 */
public final class DeadLetterWriter implements DeadLetters {
  private static final String PREFIX = "streamtable.";

  private final String topic;
  private final HashMap<String, String> properties;
  private transient Sending sending;

  /** @param properties properties of the producer, without serializers */
  public DeadLetterWriter(String topic, Map<String, String> properties) {
    this.topic = topic;
    this.properties = new HashMap<>(properties);
  }

  @Override
  public void take(SourceRecord record, String part, String reason) {
    ProducerRecord<byte[], byte[]> letter =
        new ProducerRecord<>(topic, record.key(), record.value());
    Headers headers = letter.headers();
    if (record.headers() != null) {
      for (int i = 0; i < record.headers().numElements(); i++) {
        InternalRow header = record.headers().getStruct(i, 2);
        byte[] value = header.isNullAt(1) ? null : header.getBinary(1);
        headers.add(header.getUTF8String(0).toString(), value);
      }
    }
    add(headers, "source.topic", record.topic());
    add(headers, "source.partition", record.partition());
    add(headers, "source.offset", record.offset());
    add(headers, "error.class", "RECORD_UNREADABLE");
    add(headers, "error.part", part);
    add(headers, "error.reason", reason);
    sending().send(letter);
  }

  private static void add(Headers headers, String name, Object value) {
    headers.add(PREFIX + name, value.toString().getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Returns the sender of this task. Each task reads with its own copy, which may outlive the task.
   */
  private Sending sending() {
    TaskContext task = TaskContext.get();
    if (sending == null || sending.task != task) {
      sending = new Sending(task);
    }
    return sending;
  }

  private final class Sending {
    private final TaskContext task;
    private final ClientPool<Producer<byte[], byte[]>>.PooledClient pooled =
        Producers.borrow(properties);
    private final Producer<byte[], byte[]> producer = pooled.client();
    private final AtomicReference<Exception> failure = new AtomicReference<>();

    private Sending(TaskContext task) {
      this.task = task;
      task.addTaskCompletionListener((TaskCompletionListener) this::finish);
    }

    private void send(ProducerRecord<byte[], byte[]> letter) {
      check();
      try {
        producer.send(letter, (metadata, e) -> remember(e));
      } catch (RuntimeException e) {
        remember(e);
      }
    }

    private void remember(Exception e) {
      if (e != null) {
        failure.compareAndSet(null, e);
      }
    }

    private void finish(TaskContext ended) {
      try {
        if (!ended.isFailed() && !ended.isInterrupted()) {
          producer.flush();
          check();
        }
      } finally {
        Producers.release(pooled, failure.get() != null);
      }
    }

    private void check() {
      Exception first = failure.get();
      if (first != null) {
        String reason = Secrets.describe(first, properties);
        throw new KafkaFault("dead letters, topic '" + topic + "': " + reason, false);
      }
    }
  }
}
