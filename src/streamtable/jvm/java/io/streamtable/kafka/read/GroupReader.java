package io.streamtable.kafka.read;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;

/**
 * Reads the parts of a batch that a task has with one consumer, the records of each partition in order. A part
 * that this consumer cannot finish (its records were deleted, or the brokers send nothing) is left
 * to a {@link BatchReader}, which decides about data loss as Spark does.
 */
final class GroupReader implements PartitionReader<InternalRow> {
  private final Map<TopicPartition, KafkaBatchInputPartition> parts = new HashMap<>();
  private final Map<TopicPartition, RecordRow> rows = new HashMap<>();
  private final Deque<KafkaBatchInputPartition> unfinished = new ArrayDeque<>();
  private GroupConsumer consumer;
  private TopicPartition partition;
  private RecordRow row;
  private BatchReader single;
  private InternalRow current;
  private long outOfRange;
  private long dataLoss;

  GroupReader(List<KafkaBatchInputPartition> group) {
    for (KafkaBatchInputPartition part : group) {
      TopicPartition read = part.offsetRange().topicPartition();
      parts.put(read, part);
      rows.put(read, new RecordRow(read, part.includeHeaders()));
    }
    KafkaBatchInputPartition any = group.get(0);
    consumer = GroupConsumers.take(any.executorKafkaParams(), parts.keySet());
    try {
      consumer.begin(
          group.stream().map(KafkaBatchInputPartition::offsetRange).toList(), any.pollTimeoutMs());
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Creates readers of groups; Spark's own readers read other input partitions. */
  static PartitionReaderFactory factory(PartitionReaderFactory kafka) {
    return new Factory(kafka);
  }

  private record Factory(PartitionReaderFactory kafka) implements PartitionReaderFactory {
    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      return partition instanceof PartitionGroup group
          ? new GroupReader(group.parts())
          : kafka.createReader(partition);
    }
  }

  @Override
  public boolean next() {
    if (consumer != null && nextOfGroup()) {
      return true;
    }
    while (single != null || !unfinished.isEmpty()) {
      if (single == null) {
        single = new BatchReader(unfinished.remove());
      }
      if (single.next()) {
        current = single.get();
        return true;
      }
      closeSingle();
    }
    return false;
  }

  private boolean nextOfGroup() {
    ConsumerRecord<byte[], byte[]> record = consumer.next();
    if (record == null) {
      consumer
          .unfinished()
          .forEach((tp, offset) -> unfinished.add(PartitionGroup.from(parts.get(tp), offset)));
      GroupConsumers.put(consumer);
      consumer = null;
      return false;
    }
    if (consumer.partition() != partition) {
      partition = consumer.partition();
      row = rows.get(partition);
    }
    current = row.of(record);
    return true;
  }

  @Override
  public InternalRow get() {
    return current;
  }

  /** A consumer that has not reached the end, because the task failed, is not used again. */
  @Override
  public void close() {
    if (consumer != null) {
      consumer.close();
      consumer = null;
    }
    closeSingle();
  }

  private void closeSingle() {
    if (single != null) {
      outOfRange += single.outOfRange();
      dataLoss += single.dataLoss();
      single.close();
      single = null;
    }
  }

  @Override
  public CustomTaskMetric[] currentMetricsValues() {
    return BatchReader.metrics(outOfRange, dataLoss);
  }
}
