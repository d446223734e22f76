package io.streamtable.kafka.read;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;
import org.apache.spark.sql.kafka010.KafkaOffsetRange;
import org.apache.spark.sql.kafka010.consumer.KafkaDataConsumer;

/**
 * Reads a Kafka partition's part of a batch with the consumers of Spark's Kafka source, which decide
 * about lost records, but without copying records ({@link RecordRow}).
 */
final class BatchReader implements PartitionReader<InternalRow> {
  private final KafkaBatchInputPartition part;
  private final KafkaOffsetRange range;
  private final KafkaDataConsumer consumer;
  private final RecordRow row;
  private InternalRow current;
  private long next;

  BatchReader(KafkaBatchInputPartition part) {
    this.part = part;
    this.range = part.offsetRange();
    this.consumer = KafkaDataConsumer.acquire(range.topicPartition(), part.executorKafkaParams());
    this.row = new RecordRow(range.topicPartition(), part.includeHeaders());
    this.next = range.fromOffset();
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
    current = row.of(record);
    return true;
  }

  @Override
  public InternalRow get() {
    return current;
  }

  @Override
  public void close() {
    consumer.release();
  }

  @Override
  public CustomTaskMetric[] currentMetricsValues() {
    return metrics(outOfRange(), dataLoss());
  }

  long outOfRange() {
    return consumer.getNumOffsetOutOfRange();
  }

  long dataLoss() {
    return consumer.getNumDataLoss();
  }

  /** Returns the metrics of Spark's source. */
  static CustomTaskMetric[] metrics(long outOfRange, long dataLoss) {
    return new CustomTaskMetric[] {
      new Metric("offsetOutOfRange", outOfRange), new Metric("dataLoss", dataLoss)
    };
  }

  private record Metric(String name, long value) implements CustomTaskMetric {}
}
