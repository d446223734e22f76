package io.streamtable.kafka.write;

/** The partition that a task writes a record to if neither the row nor the key decides. */
public enum PartitionChoice {
  /** The producer chooses: by the key's hash, or one partition for a while (sticky). */
  DEFAULT,
  /** One partition for each task. */
  FIXED,
  /** The next partition for each record; every task begins with another partition. */
  ROUND_ROBIN;

  /** Returns the partition of a task's n-th record; null if the producer chooses. */
  Integer of(long task, long record, int partitions) {
    return switch (this) {
      case DEFAULT -> null;
      case FIXED -> (int) (task % partitions);
      case ROUND_ROBIN -> (int) ((task + record) % partitions);
    };
  }}
