package io.streamtable.shims.shuffle;

import java.lang.reflect.Field;
import java.util.Queue;
import org.apache.spark.network.shuffle.streaming.DataMessage;
import org.apache.spark.network.shuffle.streaming.StreamingShuffleMessage;
import org.apache.spark.shuffle.streaming.StreamingShuffleReader;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import scala.Product2;
import scala.collection.Iterator;

/**
 * The rows of a shuffle between the JVMs of a cluster.
 *
 * <p>A message of the shuffle has one or more rows. Spark's iterator takes messages from a queue,
 * and keeps the rows that are left of the last message in a private field. A release of Spark whose
 * iterator has no such field still runs: no row is then known to have arrived.
 */
final class StreamedRows extends ReadyRows {
  private static final String LEFT = "rowIterator";

  private final Iterator<Product2<Integer, InternalRow>> rows;
  private final Queue<StreamingShuffleMessage> messages;
  /** The field; null if there is none. */
  private final Field left;

  StreamedRows(StreamingShuffleReader<Integer, InternalRow> reader) {
    this.rows = reader.read();
    this.messages = reader.messageQueue();
    this.left = left(rows);
  }

  private static Field left(Iterator<?> rows) {
    try {
      Field field = rows.getClass().getDeclaredField(LEFT);
      field.setAccessible(true);
      return field;
    } catch (NoSuchFieldException otherRelease) {
      return null;
    }
  }

  @Override
  public boolean hasNext() {
    return rows.hasNext();
  }

  /** Returns a copy of the row, because Spark reads the one after it into the same memory. */
  @Override
  public UnsafeRow next() {
    return ((UnsafeRow) rows.next()._2()).copy();
  }

  @Override
  public boolean isReady() {
    if (left == null) {
      return false;
    }
    try {
      return ((Iterator<?>) left.get(rows)).hasNext() || messages.peek() instanceof DataMessage;
    } catch (IllegalAccessException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
