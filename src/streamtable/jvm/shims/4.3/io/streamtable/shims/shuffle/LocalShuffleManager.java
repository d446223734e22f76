package io.streamtable.shims.shuffle;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.package$;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.streaming.StreamingShuffleManager;

/**
 * The shuffles of real-time mode, in a Spark of one process: rows pass from thread to thread in
 * memory. There is no socket, and no timer that sends them.
 *
 * <p>`spark.shuffle.manager.incremental` names this class. On a cluster it does what its superclass
 * does. The shuffles of micro-batches are Spark's.
 */
public final class LocalShuffleManager extends StreamingShuffleManager {
  /** Spark's default is 32 MiB, which is outside of the heap and waits for a network. */
  private static final int QUEUE_BYTES = 4 << 20;

  private final Map<Integer, LocalShuffle> shuffles = new ConcurrentHashMap<>();
  private final boolean isLocal;
  private final int queueBytes;

  public LocalShuffleManager(SparkConf conf) {
    String master = conf.get("spark.master");
    isLocal = master.equals("local") || master.startsWith("local[");
    var setting = package$.MODULE$.STREAMING_SHUFFLE_READER_MAX_MEMORY();
    queueBytes = conf.contains(setting.key()) ? Math.max(1, (int) conf.get(setting)) : QUEUE_BYTES;
  }

  @Override
  public <K, V, C> ShuffleHandle registerShuffle(
      int shuffleId, ShuffleDependency<K, V, C> dependency) {
    if (!isLocal) {
      return super.registerShuffle(shuffleId, dependency);
    }
    return new LocalShuffleHandle<>(shuffleId, dependency);
  }

  @Override
  public <K, V> ShuffleWriter<K, V> getWriter(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    if (!(handle instanceof LocalShuffleHandle<?, ?, ?> local)) {
      return super.getWriter(handle, mapId, context, metrics);
    }
    return new LocalShuffleWriter<>(shuffle(local), local.partitioner(), mapId, context);
  }

  /** Returns a reader of one partition. Real-time mode has no adaptive execution, so no ranges. */
  @Override
  public <K, C> ShuffleReader<K, C> getReader(
      ShuffleHandle handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    if (!(handle instanceof LocalShuffleHandle<?, ?, ?> local)) {
      return super.getReader(
          handle, startMapIndex, endMapIndex, startPartition, endPartition, context, metrics);
    }
    if (endPartition != startPartition + 1) {
      throw new UnsupportedOperationException("a task of real-time mode reads one partition");
    }
    return new LocalShuffleReader<>(shuffle(local).beginReader(startPartition), context);
  }

  /** Returns the shuffle of a task. Spark ends only shuffles that have had a task. */
  private LocalShuffle shuffle(LocalShuffleHandle<?, ?, ?> handle) {
    return shuffles.computeIfAbsent(
        handle.shuffleId(),
        id ->
            new LocalShuffle(handle.writers(), handle.partitioner().numPartitions(), queueBytes));
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    shuffles.remove(shuffleId);
    return super.unregisterShuffle(shuffleId);
  }

  @Override
  public void stop() {
    shuffles.clear();
    super.stop();
  }
}
