package io.streamtable.shims.shuffle;

import org.apache.spark.Partitioner;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;

/** Writes the rows of a task into the queues of their readers. */
final class LocalShuffleWriter<K, V> extends ShuffleWriter<K, V> {
  private final LocalShuffle shuffle;
  private final Partitioner partitioner;
  private final long mapId;
  private final TaskContext context;

  LocalShuffleWriter(
      LocalShuffle shuffle, Partitioner partitioner, long mapId, TaskContext context) {
    this.shuffle = shuffle;
    this.partitioner = partitioner;
    this.mapId = mapId;
    this.context = context;
  }

  @Override
  public void write(Iterator<Product2<K, V>> records) {
    RowQueue[] queues = shuffle.beginWriter(context.partitionId());
    while (records.hasNext()) {
      context.killTaskIfInterrupted();
      Product2<K, V> record = records.next();
      // The next row is written into the memory of this one.
      UnsafeRow row = ((UnsafeRow) record._2()).copy();
      queues[partitioner.getPartition(record._1())].put(row, context);
    }
    for (RowQueue queue : queues) {
      queue.endWriter();
    }
  }

  /** Returns a status without sizes. Readers do not use it. */
  @Override
  public Option<MapStatus> stop(boolean success) {
    return Option.apply(
        MapStatus$.MODULE$.apply(
            SparkEnv.get().blockManager().shuffleServerId(),
            getPartitionLengths(),
            mapId,
            MapStatus$.MODULE$.apply$default$4()));
  }

  @Override
  public long[] getPartitionLengths() {
    return new long[shuffle.readers()];
  }
}
