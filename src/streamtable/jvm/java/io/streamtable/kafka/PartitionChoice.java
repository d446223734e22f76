package io.streamtable.kafka;

/** Which partition a task writes a record to, where neither the row nor the key decides. */
public enum PartitionChoice {
  /** The producer's: by the key's hash, or sticking to one partition for a while. */
  DEFAULT,
  /** One partition for each task. */
  FIXED,
  /** Each record the next one, every task beginning with another. */
  ROUND_ROBIN;

  /** The partition of a task's n-th record; null where the producer chooses. */
  Integer of(long task, long record, int partitions) {
    return switch (this) {
      case DEFAULT -> null;
      case FIXED -> (int) (task % partitions);
      case ROUND_ROBIN -> (int) ((task + record) % partitions);
    };
  }}
