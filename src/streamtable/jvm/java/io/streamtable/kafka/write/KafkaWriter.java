package io.streamtable.kafka.write;

import io.streamtable.checkpoint.Lease;
import io.streamtable.codec.EncodeException;
import io.streamtable.kafka.client.KafkaFault;
import io.streamtable.metrics.Counters;
import io.streamtable.metrics.LatestPair;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.fs.Path;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.Row;
import org.apache.spark.util.LongAccumulator;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * Writes rows to a topic, or each row to the topic that it names. Spark's own Kafka sink supports
 * no timestamps, has no counters and cannot keep only the last row of a key.
 *
 * <p>Records are sent without waiting for each acknowledgement. Spark calls {@code close} before it
 * commits an epoch, and {@code close} waits for all records. The first record that fails ends the
 * task. The {@link Delivery} decides what a task does when it runs again.
 */
public final class KafkaWriter extends ForeachWriter<Row> {
  /** Counter of records passed to the producer. */
  public static final String RECORDS_OUT = "recordsOut";
  /** Counter of bytes of the records' keys and values. */
  public static final String BYTES_OUT = "bytesOut";
  /** Counter of records that Kafka did not accept and that delivery guarantee NONE gives up. */
  public static final String LOST = "recordsLost";

  private final String topic;
  private final Delivery delivery;
  private final int bufferRows;
  private final long bufferMs;
  private final Counters counters;
  private int topicAt = -1;
  private HashMap<String, String> reading;
  private int headersAt = -1;
  private int timestampAt = -1;
  private int partitionAt = -1;
  private PartitionChoice choice = PartitionChoice.DEFAULT;
  private LatestPair sendTime;
  private String checkpoint;

  private transient Lease lease;
  private transient long task;
  private transient long epoch;
  private transient long records;
  private transient int partitions;
  private transient ReducingBuffer buffer;
  private transient LongAccumulator recordsOut;
  private transient LongAccumulator bytesOut;

  KafkaWriter(
      String topic, Delivery delivery, int bufferRows, long bufferMs, Counters counters) {
    this.topic = topic;
    this.delivery = delivery;
    this.bufferRows = bufferRows;
    this.bufferMs = bufferMs;
    this.counters = counters;
  }

  /**
   * Creates a writer of rows whose first column is the key and second column the value, both
   * BINARY.
   *
   * @param properties properties of the producer, without serializers
   * @param guarantee NONE or AT_LEAST_ONCE
   * @param bufferRows maximum number of buffered rows per task; 0 turns the buffer off
   * @param bufferMs longest time that a row is buffered, in milliseconds; 0 turns the buffer off
   * @param counters counters with all names that this class declares
   */
  public static KafkaWriter create(
      String topic,
      Map<String, String> properties,
      String guarantee,
      int bufferRows,
      long bufferMs,
      Counters counters) {
    boolean waits =
        switch (guarantee) {
          case "NONE" -> false;
          case "AT_LEAST_ONCE" -> true;
          default -> throw new IllegalArgumentException("delivery guarantee " + guarantee);
        };
    Delivery delivery = new PlainDelivery(topic, properties, waits);
    return new KafkaWriter(topic, delivery, bufferRows, bufferMs, counters);
  }

  /**
   * Creates a writer that writes in transactions, exactly once.
   *
   * @param prefix prefix of the transactional ids, before the number of the task
   * @param job distinguishes this job's epochs from those of another job with the same prefix; no
   *     blanks
   */
  public static KafkaWriter createTransactional(
      String topic,
      Map<String, String> properties,
      String prefix,
      String job,
      int bufferRows,
      long bufferMs,
      Counters counters) {
    Delivery delivery = new TransactionalDelivery(properties, topic, prefix, job);
    return new KafkaWriter(topic, delivery, bufferRows, bufferMs, counters);
  }

  /**
   * Sets the columns of headers (MAP), timestamp (TIMESTAMP) and partition (INT); -1 means none.
   */
  public KafkaWriter withMetadata(int headers, int timestamp, int partition) {
    headersAt = headers;
    timestampAt = timestamp;
    partitionAt = partition;
    return this;
  }

  /**
   * Sets the column (STRING) with the topic of each row; -1 writes all rows to one topic. The
   * writer's own topic then only keeps the epochs of transactions. A row without a key deletes each
   * key of its topic, as TRUNCATE does. If that row has headers, it deletes only keys whose last
   * value has these headers.
   *
   * @param properties properties of a consumer, without deserializers
   */
  public KafkaWriter withTopics(int topics, Map<String, String> properties) {
    topicAt = topics;
    reading = new HashMap<>(properties);
    return this;
  }

  /** Sets how to choose the partitions of rows that name none. */
  public KafkaWriter withPartitions(String name) {
    choice = PartitionChoice.valueOf(name);
    return this;
  }

  /** Sets the pair that receives the send time when an epoch ends: epoch ms and send time. */
  public KafkaWriter withSendTime(LatestPair pair) {
    sendTime = pair;
    return this;
  }

  /** Sets the folder of the query's checkpoint: a job that has lost it writes no more records. */
  public KafkaWriter withCheckpoint(String path) {
    checkpoint = path;
    return this;
  }

  @Override
  public boolean open(long partitionId, long epochId) {
    lease = checkpoint == null ? null : Lease.of(new Path(checkpoint));
    delivery.begin(partitionId, epochId);
    task = partitionId;
    epoch = epochId;
    records = 0;
    partitions = 0;
    recordsOut = counters.of(RECORDS_OUT);
    bytesOut = counters.of(BYTES_OUT);
    buffer =
        bufferRows > 0 && bufferMs > 0 ? new ReducingBuffer(bufferRows, bufferMs, this::send) : null;
    return true;
  }

  @Override
  public void process(Row row) {
    ProducerRecord<byte[], byte[]> record = record(row);
    if (topicAt >= 0 && record.key() == null) {
      deleteKeys(record);
    } else if (buffer == null) {
      send(record);
    } else {
      buffer.add(record);
    }
  }

  /** Called after {@code open} regardless of its result, and after a failure, with the error. */
  @Override
  public void close(Throwable error) {
    try {
      if (error == null && buffer != null) {
        buffer.flush();
      }
      if (error == null) {
        named(
            () -> {
              delivery.commit();
              if (sendTime != null && records > 0) {
                sendTime.add(System.currentTimeMillis(), delivery.sendMs());
              }
              return true;
            });
      }
    } finally {
      if (buffer != null) {
        buffer.stop();
        buffer = null;
      }
      counters.add(LOST, delivery.lost());
      delivery.end();
    }
  }

  private void send(ProducerRecord<byte[], byte[]> record) {
    if (lease != null) {
      lease.check();
    }
    if (named(() -> delivery.send(record))) {
      recordsOut.add(1L);
      bytesOut.add((long) length(record.key()) + length(record.value()));
    }
  }

  /**
   * Sends a tombstone for each key of the record's topic, after all records sent so far are
   * written.
   */
  private void deleteKeys(ProducerRecord<byte[], byte[]> record) {
    delivery.flush();
    for (byte[] key : TopicKeys.read(reading, record.topic(), record.headers())) {
      send(new ProducerRecord<>(record.topic(), null, key, null, record.headers()));
    }
  }

  /** Runs a step and adds the topic to a fault that names none. */
  private boolean named(BooleanSupplier step) {
    try {
      return step.getAsBoolean();
    } catch (KafkaFault fault) {
      throw topicAt >= 0 ? fault : fault.inTopic(topic);
    }
  }

  private ProducerRecord<byte[], byte[]> record(Row row) {
    if (partitions == 0 && choice != PartitionChoice.DEFAULT) {
      named(
          () -> {
            partitions = delivery.partitions(topic);
            return true;
          });
    }
    Integer partition =
        at(row, partitionAt) instanceof Integer number
            ? number
            : choice.of(task, epoch, records, partitions);
    records++;
    Long timestamp = millis(at(row, timestampAt));
    byte[] key = row.getAs(0);
    byte[] value = row.getAs(1);
    String target = topicAt < 0 ? topic : row.getString(topicAt);
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(target, partition, timestamp, key, value);
    scala.collection.Map<?, ?> headers = (scala.collection.Map<?, ?>) at(row, headersAt);
    if (headers != null) {
      for (Iterator<? extends Tuple2<?, ?>> all = headers.iterator(); all.hasNext(); ) {
        Tuple2<?, ?> header = all.next();
        if (header._1() == null) {
          throw unwritable("metadata 'headers' has NULL for a key, and Kafka has no such header");
        }
        record.headers().add((String) header._1(), (byte[]) header._2());
      }
    }
    return record;
  }

  private static Object at(Row row, int position) {
    return position < 0 ? null : row.get(position);
  }

  /**
   * Converts a timestamp to milliseconds. A session setting decides which of two classes Spark
   * passes.
   */
  private Long millis(Object time) {
    if (time == null) {
      return null;
    }
    Instant instant = time instanceof Timestamp timestamp ? timestamp.toInstant() : (Instant) time;
    long millis = instant.toEpochMilli();
    if (millis < 0) {
      throw unwritable("metadata 'timestamp' is " + instant + ", and Kafka has no time before 1970");
    }
    return millis;
  }

  private EncodeException unwritable(String reason) {
    return EncodeException.unwritable("topic '" + topic + "': " + reason);
  }

  private static int length(byte[] bytes) {
    return bytes == null ? 0 : bytes.length;
  }
}
