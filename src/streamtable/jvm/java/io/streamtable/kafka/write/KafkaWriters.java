package io.streamtable.kafka.write;

import io.streamtable.metrics.Counters;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.Row;

/**
 * Writes rows to several topics. The last column of a row (INT) is the number of the writer that
 * takes the row; the other columns are those of {@link KafkaWriter}.
 */
public final class KafkaWriters extends ForeachWriter<Row> {
  private final ArrayList<KafkaWriter> writers;

  private KafkaWriters(List<KafkaWriter> writers) {
    this.writers = new ArrayList<>(writers);
  }

  /** Combines writers of a topic each. They share one transaction if they have one delivery. */
  public static KafkaWriters of(List<KafkaWriter> writers) {
    return new KafkaWriters(writers);
  }

  /**
   * Returns a delivery in one transaction per task, for the writers of several topics.
   *
   * @param properties properties of the producer, without serializers
   * @param topic topic that marks the epochs; see {@link TransactionalDelivery}
   * @param writers number of the writers
   */
  public static Delivery transactional(
      Map<String, String> properties, String topic, String prefix, String job, int writers) {
    return new SharedDelivery(new TransactionalDelivery(properties, topic, prefix, job), writers);
  }

  /** Creates a writer of one topic, with the delivery that the writers of other topics share. */
  public static KafkaWriter writer(
      String topic, Delivery delivery, int bufferRows, long bufferMs, Counters counters) {
    return new KafkaWriter(topic, delivery, bufferRows, bufferMs, counters);
  }

  @Override
  public boolean open(long partitionId, long epochId) {
    try {
      for (KafkaWriter writer : writers) {
        writer.open(partitionId, epochId);
      }
    } catch (RuntimeException e) {
      close(e); // Spark closes no writer whose open has failed
      throw e;
    }
    return true;
  }

  @Override
  public void process(Row row) {
    writers.get(row.getInt(row.length() - 1)).process(row);
  }

  /**
   * Closes every writer, also if one of them fails: a failure of one aborts the transaction of all.
   */
  @Override
  public void close(Throwable error) {
    Throwable first = error;
    RuntimeException failure = null;
    for (KafkaWriter writer : writers) {
      try {
        writer.close(first);
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
          first = e;
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
