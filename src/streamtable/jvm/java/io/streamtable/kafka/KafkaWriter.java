package io.streamtable.kafka;

import io.streamtable.codec.Counters;
import io.streamtable.codec.LatestPair;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.Row;
import org.apache.spark.util.LongAccumulator;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * Writes rows to one topic: Spark's own Kafka sink knows no timestamps, counts nothing and cannot
 * keep the last row of a key only.
 *
 * <p>Records are sent as they come and none is waited for; {@code close}, which Spark calls before
 * it commits an epoch, waits for all of them. The first one that fails ends the task. What a task
 * that runs again does is up to the {@link Delivery}.
 */
public final class KafkaWriter extends ForeachWriter<Row> {
  /** Records handed to the producer. */
  public static final String RECORDS_OUT = "recordsOut";
  /** Bytes of their keys and values. */
  public static final String BYTES_OUT = "bytesOut";
  /** Records that Kafka did not take and that delivery guarantee NONE gives up. */
  public static final String LOST = "recordsLost";

  private final String topic;
  private final Delivery delivery;
  private final int bufferRows;
  private final long bufferMs;
  private final Counters counters;
  private int headersAt = -1;
  private int timestampAt = -1;
  private int partitionAt = -1;
  private PartitionChoice choice = PartitionChoice.DEFAULT;
  private LatestPair sendTime;

  private transient long task;
  private transient long records;
  private transient int partitions;
  private transient ReducingBuffer buffer;
  private transient LongAccumulator recordsOut;
  private transient LongAccumulator bytesOut;

  private KafkaWriter(
      String topic, Delivery delivery, int bufferRows, long bufferMs, Counters counters) {
    this.topic = topic;
    this.delivery = delivery;
    this.bufferRows = bufferRows;
    this.bufferMs = bufferMs;
    this.counters = counters;
  }

  /**
   * A writer of rows whose first column is the key and second the value, both BINARY.
   *
   * @param properties of the producer, serializers left out
   * @param guarantee NONE or AT_LEAST_ONCE
   * @param bufferRows rows that may be held back per task; 0 turns the buffer off
   * @param bufferMs longest time that a row is held back, in milliseconds; 0 turns the buffer off
   * @param counters holds every name that this class declares
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
   * The same in transactions, exactly once.
   *
   * @param prefix of the transactional ids, before the number of the task
   * @param job tells this job's epochs from those of another one under the same prefix; no blanks
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

  /** Names the columns of headers (MAP), timestamp (TIMESTAMP) and partition (INT); -1 is none. */
  public KafkaWriter withMetadata(int headers, int timestamp, int partition) {
    headersAt = headers;
    timestampAt = timestamp;
    partitionAt = partition;
    return this;
  }

  /** Chooses partitions for rows that name none. */
  public KafkaWriter withPartitions(String name) {
    choice = PartitionChoice.valueOf(name);
    return this;
  }

  /** Tells how long sending takes: when an epoch ends, by epoch ms. */
  public KafkaWriter withSendTime(LatestPair pair) {
    sendTime = pair;
    return this;
  }

  @Override
  public boolean open(long partitionId, long epochId) {
    delivery.begin(partitionId, epochId);
    task = partitionId;
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
    if (buffer == null) {
      send(record);
    } else {
      buffer.add(record);
    }
  }

  /** Called after {@code open} whatever it has returned, and after a failure, with the error. */
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
    if (named(() -> delivery.send(record))) {
      recordsOut.add(1L);
      bytesOut.add((long) length(record.key()) + length(record.value()));
    }
  }

  /** Says in a fault which topic it is about. */
  private boolean named(BooleanSupplier step) {
    try {
      return step.getAsBoolean();
    } catch (KafkaFault fault) {
      throw new KafkaFault("topic '" + topic + "': " + fault.getMessage(), false);
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
            : choice.of(task, records++, partitions);
    Long timestamp = millis(at(row, timestampAt));
    byte[] key = row.getAs(0);
    byte[] value = row.getAs(1);
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topic, partition, timestamp, key, value);
    if (at(row, headersAt) instanceof scala.collection.Map<?, ?> headers) {
      for (Iterator<? extends Tuple2<?, ?>> all = headers.iterator(); all.hasNext(); ) {
        Tuple2<?, ?> header = all.next();
        record.headers().add((String) header._1(), (byte[]) header._2());
      }
    }
    return record;
  }

  private static Object at(Row row, int position) {
    return position < 0 ? null : row.get(position);
  }

  /** Spark gives one or the other, as a setting of the session says. */
  private static Long millis(Object time) {
    if (time instanceof Instant instant) {
      return instant.toEpochMilli();
    }
    return time instanceof Timestamp timestamp ? (Long) timestamp.getTime() : null;
  }

  private static int length(byte[] bytes) {
    return bytes == null ? 0 : bytes.length;
  }
}
