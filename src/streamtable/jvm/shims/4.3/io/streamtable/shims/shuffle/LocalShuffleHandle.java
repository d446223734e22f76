package io.streamtable.shims.shuffle;

import org.apache.spark.Partitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.shuffle.BaseShuffleHandle;

/** What the tasks of a shuffle in memory know of it. */
final class LocalShuffleHandle<K, V, C> extends BaseShuffleHandle<K, V, C> {
  private final int writers;

  LocalShuffleHandle(int shuffleId, ShuffleDependency<K, V, C> dependency) {
    super(shuffleId, dependency);
    writers = dependency.rdd().getNumPartitions();
  }

  /** Returns the number of tasks that write. */
  int writers() {
    return writers;
  }

  Partitioner partitioner() {
    return dependency().partitioner();
  }
}
