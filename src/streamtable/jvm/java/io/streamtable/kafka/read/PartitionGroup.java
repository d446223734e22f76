package io.streamtable.kafka.read;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;
import org.apache.spark.sql.kafka010.KafkaOffsetRange;

/**
 * The parts of a batch that one task reads with one consumer of its own. Spark's source plans a task
 * for each partition of a topic; with hundreds of partitions, these tasks and their consumers cost
 * more than the records. A consumer of Spark asks for the first and the last offset after each poll.
 * The broker answers when the fetch that is under way on this connection ends: where no record
 * follows, after {@code fetch.max.wait.ms}, half a second.
 */
record PartitionGroup(List<KafkaBatchInputPartition> parts) implements InputPartition {
  /** The cost of a part in addition to its records, in records. */
  private static final long COST = 100;

  /** Returns a group for each part of a batch. */
  static InputPartition[] single(InputPartition[] parts) {
    return Arrays.stream(parts)
        .map(part -> hasOffsets(part) ? new PartitionGroup(List.of(kafka(part))) : part)
        .toArray(InputPartition[]::new);
  }

  /** Distributes the parts of a batch to one group per slot, with about equal numbers of records. */
  static InputPartition[] of(InputPartition[] parts, int slots) {
    if (parts.length <= slots || !Arrays.stream(parts).allMatch(PartitionGroup::hasOffsets)) {
      return single(parts);
    }
    PriorityQueue<Load> loads =
        new PriorityQueue<>(Comparator.comparingLong(Load::cost).thenComparingInt(Load::slot));
    List<List<KafkaBatchInputPartition>> groups = new ArrayList<>();
    for (int slot = 0; slot < slots; slot++) {
      loads.add(new Load(0, slot));
      groups.add(new ArrayList<>());
    }
    Arrays.stream(parts)
        .map(PartitionGroup::kafka)
        .sorted(LARGEST_FIRST)
        .forEach(
            part -> {
              Load load = loads.remove();
              groups.get(load.slot()).add(part);
              loads.add(new Load(load.cost() + COST + part.offsetRange().size(), load.slot()));
            });
    return groups.stream().map(PartitionGroup::new).toArray(InputPartition[]::new);
  }

  /** The order is total, so that a task gets the same partitions batch after batch. */
  private static final Comparator<KafkaBatchInputPartition> LARGEST_FIRST =
      Comparator.comparingLong((KafkaBatchInputPartition part) -> -part.offsetRange().size())
          .thenComparing(part -> part.offsetRange().topic())
          .thenComparingInt(part -> part.offsetRange().partition());

  private record Load(long cost, int slot) {}

  private static KafkaBatchInputPartition kafka(InputPartition part) {
    return (KafkaBatchInputPartition) part;
  }

  /** Whether both ends of a part are offsets. Spark's reader resolves special values. */
  private static boolean hasOffsets(InputPartition part) {
    return part instanceof KafkaBatchInputPartition kafka
        && kafka.offsetRange().fromOffset() >= 0
        && kafka.offsetRange().untilOffset() >= 0;
  }

  /** Where the consumer of the first part is: the executor that read it in the last batch. */
  @Override
  public String[] preferredLocations() {
    return parts.get(0).preferredLocations();
  }

  /**
   * Returns the number of tasks that run at once. For real-time mode, local mode has more threads
   * than the machine has cores.
   */
  static int slots(SparkContext context) {
    int slots = context.defaultParallelism();
    return context.isLocal() ? Math.min(slots, Runtime.getRuntime().availableProcessors()) : slots;
  }

  /** Returns the part without its records before an offset. */
  static KafkaBatchInputPartition from(KafkaBatchInputPartition part, long offset) {
    KafkaOffsetRange range = part.offsetRange();
    return new KafkaBatchInputPartition(
        new KafkaOffsetRange(
            range.topicPartition(), offset, range.untilOffset(), range.preferredLoc()),
        part.executorKafkaParams(),
        part.pollTimeoutMs(),
        part.failOnDataLoss(),
        part.includeHeaders());
  }
}
