package io.streamtable.shims.shuffle;

import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.util.MutablePair;
import scala.Product2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/** Reads the rows of a queue until all writers have ended. */
final class LocalShuffleReader<K, C> implements ShuffleReader<K, C> {
  private final LocalRows rows;

  LocalShuffleReader(RowQueue queue, TaskContext context) {
    rows = new LocalRows(queue, context);
  }

  LocalRows rows() {
    return rows;
  }

  /** Returns pairs without keys, because Spark only uses the rows. */
  @Override
  public Iterator<Product2<K, C>> read() {
    return new AbstractIterator<>() {
      private final MutablePair<K, C> pair = new MutablePair<>(null, null);

      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      @SuppressWarnings("unchecked")
      public Product2<K, C> next() {
        return pair.update(null, (C) rows.next());
      }
    };
  }
}
