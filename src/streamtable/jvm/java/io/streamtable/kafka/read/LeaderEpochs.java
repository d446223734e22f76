package io.streamtable.kafka.read;

import io.streamtable.expressions.MethodCall;
import io.streamtable.kafka.client.BackgroundTasks;
import io.streamtable.kafka.client.BoundedConsumer;
import io.streamtable.kafka.client.KafkaFault;
import io.streamtable.kafka.client.Secrets;
import java.io.Serializable;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Looks up the leader epoch of a record, which Spark's source drops. Within a partition the epoch
 * rises with the offset. If two records have the same epoch, all records between them have it too.
 * Reading the requested record and the record at the end of the partition therefore answers nearly
 * every later lookup.
 */
public final class LeaderEpochs implements Serializable {
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final Map<Map<String, String>, Reader> READERS = new ConcurrentHashMap<>();

  private final HashMap<String, String> properties;
  private transient Reader reader;

  public LeaderEpochs(Map<String, String> properties) {
    this.properties = new HashMap<>(properties);
  }

  /**
   * Returns a column with the epoch of each record. Arguments: topic, partition and offset, in this
   * order.
   */
  public static Column column(Map<String, String> properties, List<Column> position) {
    LeaderEpochs epochs = new LeaderEpochs(properties);
    return MethodCall.column(epochs, LeaderEpochs.class, "of", DataTypes.IntegerType, position);
  }

  /** Returns the epoch of a record; null if the brokers keep none. */
  public Integer of(UTF8String topic, int partition, long offset) {
    if (reader == null) {
      reader = READERS.computeIfAbsent(properties, Reader::new);
    }
    int epoch = reader.of(new TopicPartition(topic.toString(), partition), offset);
    return epoch < 0 ? null : (Integer) epoch;
  }

  /** The cache and consumer of one JVM. The consumer is closed while it is idle. */
  private static final class Reader {
    private static final long IDLE_MS = TimeUnit.MINUTES.toMillis(1);

    /** First offset of a run -> {last offset known to be in the run, epoch}. */
    private final Map<TopicPartition, TreeMap<Long, long[]>> known = new HashMap<>();

    private final Map<String, String> properties;
    private KafkaConsumer<byte[], byte[]> consumer;
    private long asked;

    Reader(Map<String, String> properties) {
      this.properties = properties;
      BackgroundTasks.every(IDLE_MS, this::closeIdle);
    }

    private synchronized void closeIdle() {
      boolean idle = System.nanoTime() - asked > TimeUnit.MILLISECONDS.toNanos(IDLE_MS);
      if (consumer != null && idle) {
        consumer.close(Duration.ZERO);
        consumer = null;
      }
    }

    private void connect() {
      asked = System.nanoTime();
      if (consumer != null) {
        return;
      }
      Map<String, String> reading =
          Map.of(
              ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none",
              ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "1",
              // A fetch returns a batch of records whatever its size: the least limit is enough.
              ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, "1");
      consumer = BoundedConsumer.of(properties, reading);
    }

    synchronized int of(TopicPartition partition, long offset) {
      TreeMap<Long, long[]> runs = known.computeIfAbsent(partition, p -> new TreeMap<>());
      Map.Entry<Long, long[]> run = runs.floorEntry(offset);
      if (run != null && offset <= run.getValue()[0]) {
        return (int) run.getValue()[1];
      }
      try {
        return learn(partition, offset, runs, run);
      } catch (RuntimeException e) {
        throw new KafkaFault("leader-epoch: " + Secrets.describe(e, properties), false);
      }
    }

    private int learn(
        TopicPartition partition,
        long offset,
        TreeMap<Long, long[]> runs,
        Map.Entry<Long, long[]> before) {
      connect();
      consumer.assign(List.of(partition));
      long epoch = look(partition, offset);
      long last = lastOfRun(partition, offset, epoch);
      boolean joins = before != null && before.getValue()[1] == epoch;
      runs.put(joins ? before.getKey() : (Long) offset, new long[] {last, epoch});
      return (int) epoch;
    }

    /**
     * Returns the greatest offset known to have the epoch: the partition's last offset, or the last
     * one before a change.
     */
    private long lastOfRun(TopicPartition partition, long offset, long epoch) {
      long high = consumer.endOffsets(List.of(partition), WAIT).get(partition) - 1;
      long low = offset;
      // The first probe is at the end, where the answer nearly always is.
      for (long at = high; low < high; at = low + (high - low + 1) / 2) {
        Long found = lookIfThere(partition, at);
        if (found == null) {
          high = at - 1; // only a marker or deleted records follow: no lookups
        } else if (found == epoch) {
          low = at;
        } else {
          high = at - 1;
        }
      }
      return low;
    }

    private long look(TopicPartition partition, long offset) {
      Long found = lookIfThere(partition, offset);
      if (found == null) {
        throw new KafkaFault("no record at " + partition + " offset " + offset, false);
      }
      return found;
    }

    /**
     * Returns the epoch of the first record at or after an offset; -1 if the record has no epoch,
     * null if there is no record.
     */
    private Long lookIfThere(TopicPartition partition, long offset) {
      consumer.seek(partition, offset);
      long end = consumer.endOffsets(List.of(partition), WAIT).get(partition);
      long deadline = System.nanoTime() + WAIT.toNanos();
      while (consumer.position(partition, WAIT) < end) {
        ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(500));
        for (ConsumerRecord<byte[], byte[]> record : records) {
          return (long) record.leaderEpoch().orElse(-1);
        }
        if (System.nanoTime() > deadline) {
          throw new KafkaFault("no answer for " + partition + " offset " + offset, true);
        }
      }
      return null;
    }
  }
}
