package io.streamtable.kafka;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;
import org.apache.spark.sql.kafka010.KafkaOffsetRange;
import org.apache.spark.sql.kafka010.consumer.KafkaDataConsumer;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads a partition's part of a batch as Spark's Kafka source does, with its consumers, but gives
 * records as they are: Spark copies each with its topic's name into a row of one piece, of which
 * the columns that a query reads are then copied out again.
 */
final class BatchReader implements PartitionReader<InternalRow> {
  private static final int KEY = 0;
  private static final int VALUE = 1;
  private static final int OFFSET = 4;
  private static final int TIMESTAMP = 5;
  private static final int TIMESTAMP_TYPE = 6;

  private final KafkaBatchInputPartition part;
  private final KafkaOffsetRange range;
  private final KafkaDataConsumer consumer;
  private final Object[] values;
  private final InternalRow row;
  private long next;

  private BatchReader(KafkaBatchInputPartition part) {
    this.part = part;
    this.range = part.offsetRange();
    this.consumer = KafkaDataConsumer.acquire(range.topicPartition(), part.executorKafkaParams());
    this.values =
        new Object[] {
          null, null, UTF8String.fromString(range.topic()), range.partition(), null, null, null
        };
    this.row = new GenericInternalRow(values);
    this.next = range.fromOffset();
  }

  /** Readers of the parts that Spark's source makes; those with headers are Spark's own. */
  static PartitionReaderFactory factory(PartitionReaderFactory kafka) {
    return new Factory(kafka);
  }

  private record Factory(PartitionReaderFactory kafka) implements PartitionReaderFactory {
    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      if (partition instanceof KafkaBatchInputPartition part
          && !part.includeHeaders()
          && part.offsetRange().fromOffset() >= 0
          && part.offsetRange().untilOffset() >= 0) { // else the consumer is asked what they are
        return new BatchReader(part);
      }
      return kafka.createReader(partition);
    }
  }

  @Override
  public boolean next() {
    if (next >= range.untilOffset()) {
      return false;
    }
    ConsumerRecord<byte[], byte[]> record =
        consumer.get(next, range.untilOffset(), part.pollTimeoutMs(), part.failOnDataLoss());
    if (record == null) {
      return false;
    }
    next = record.offset() + 1;
    values[KEY] = record.key();
    values[VALUE] = record.value();
    values[OFFSET] = record.offset();
    values[TIMESTAMP] = Math.multiplyExact(record.timestamp(), 1_000L);
    values[TIMESTAMP_TYPE] = record.timestampType().id;
    return true;
  }

  @Override
  public InternalRow get() {
    return row;
  }

  @Override
  public void close() {
    consumer.release();
  }

  @Override
  public CustomTaskMetric[] currentMetricsValues() {
    return new CustomTaskMetric[] {
      new Metric("offsetOutOfRange", consumer.getNumOffsetOutOfRange()),
      new Metric("dataLoss", consumer.getNumDataLoss())
    };
  }

  private record Metric(String name, long value) implements CustomTaskMetric {}
}
