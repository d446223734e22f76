package io.streamtable.kafka.read;

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
 * Reads a Kafka partition's part of a batch with the consumers of Spark's Kafka source, but without
 * copying records. Spark copies each record, with its topic's name, into an unsafe row, and then
 * copies the columns that a query reads out of that row.
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

  /**
   * Creates readers of the input partitions of Spark's source. Spark's own reader reads headers.
   */
  static PartitionReaderFactory factory(PartitionReaderFactory kafka) {
    return new Factory(kafka);
  }

  private record Factory(PartitionReaderFactory kafka) implements PartitionReaderFactory {
    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      if (partition instanceof KafkaBatchInputPartition part
          && !part.includeHeaders()
          && part.offsetRange().fromOffset() >= 0
          && part.offsetRange().untilOffset() >= 0) { // else Spark's reader resolves them
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
