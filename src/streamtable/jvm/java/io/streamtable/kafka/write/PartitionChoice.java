package io.streamtable.kafka.write;

/** The partition that a task writes a record to if neither the row nor the key decides. */
public enum PartitionChoice {
  /** The producer chooses: by the key's hash, or one partition for a while (sticky). */
  DEFAULT,
  /** One partition for each task. */
  FIXED,
  /**
   * The next partition for each record. Every task begins with another partition, and every epoch,
   * too: a task may have one record per epoch. A task that runs again chooses the same partitions.
   */
  ROUND_ROBIN;

  /** Returns the partition of a task's n-th record in an epoch; null if the producer chooses. */
  Integer of(long task, long epoch, long record, int partitions) {
    return switch (this) {
      case DEFAULT -> null;
      case FIXED -> (int) (task % partitions);
      case ROUND_ROBIN -> (int) ((task + epoch + record) % partitions);
    };
  }
}
