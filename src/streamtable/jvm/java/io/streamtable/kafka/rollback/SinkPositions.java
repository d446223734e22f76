package io.streamtable.kafka.rollback;

import io.streamtable.checkpoint.BatchFiles;
import io.streamtable.checkpoint.CheckpointFolder;
import io.streamtable.kafka.admin.KafkaAdmin;
import io.streamtable.kafka.admin.TopicOffsets;
import io.streamtable.kafka.client.Bootstrap;
import io.streamtable.kafka.client.KafkaFault;
import io.streamtable.kafka.write.KafkaWriter;
import io.streamtable.metrics.Counters;
import io.streamtable.query.Commits;
import io.streamtable.query.Unchecked;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.OffsetSpec;

/**
 * Records the end offsets of a sink topic at each commit of a query in real-time mode. The query
 * writes nothing between two batches, so the topic's content up to these offsets matches the
 * query's state at the commit.
 *
 * <p>Files in a folder of a query's checkpoint: {@code N} for batch N, written before the batch's
 * commit; {@code shared} once the topic has grown by more records than the query has sent.
 */
public final class SinkPositions {
  private static final String SHARED = "shared";
  private static final long LONGEST_MS = 120_000;
  private static final Map<String, SinkPositions> BY_FOLDER = new ConcurrentHashMap<>();

  private final CheckpointFolder folder;
  private final BatchFiles files;
  private final String topic;
  private final String id;
  private final Counters counters;
  private final Map<String, String> properties;
  private final Admin admin;
  private long ends;
  private long sent;

  private SinkPositions(
      CheckpointFolder folder,
      Map<String, String> properties,
      String topic,
      String id,
      Counters counters)
      throws IOException {
    this.folder = folder;
    this.files = new BatchFiles(folder);
    this.topic = topic;
    this.id = id;
    this.counters = counters;
    this.properties = new HashMap<>(properties);
    Map<String, Object> config = KafkaAdmin.known(properties);
    config.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, String.valueOf(LONGEST_MS));
    this.admin = Admin.create(config);
  }

  /**
   * Starts recording for a query in real-time mode that does not write yet.
   *
   * @param timeoutMs how long the brokers may take to answer now; at a commit they have two minutes
   * @param id id of the topic
   * @param directory directory of the query's checkpoint
   * @param place the folder of the topic below this directory
   * @param batch the last batch that the query has committed; -1 for none
   * @param counters counters of the query's {@link KafkaWriter}
   */
  public static void watch(
      Map<String, String> properties,
      long timeoutMs,
      String topic,
      String id,
      String directory,
      String place,
      long batch,
      Counters counters)
      throws IOException, InterruptedException {
    Bootstrap.await(properties, timeoutMs);
    CheckpointFolder folder = CheckpointFolder.open(place);
    forget(directory, place); // the query may have been restarted
    SinkPositions positions = new SinkPositions(folder, properties, topic, id, counters);
    BY_FOLDER.put(place, positions);
    boolean watched = false;
    try {
      positions.keep(batch, positions.now());
      Commits.listen(directory, place, positions::commit);
      watched = true;
    } catch (ExecutionException e) {
      throw KafkaFault.of(e.getCause(), properties);
    } finally {
      if (!watched) {
        forget(directory, place);
      }
    }
  }

  /** Stops recording for a topic of a query. Does nothing if the query has none. */
  public static void forget(String directory, String place) {
    Commits.forget(directory, place);
    SinkPositions positions = BY_FOLDER.remove(place);
    if (positions != null) {
      positions.admin.close(Duration.ZERO);
    }
  }

  private void commit(long batch) {
    try {
      long endsBefore = ends;
      long sentBefore = sent;
      Map<String, Long> found = now();
      if (ends - endsBefore > sent - sentBefore) {
        folder.write(SHARED, "");
      }
      keep(batch, found);
    } catch (ExecutionException e) {
      throw KafkaFault.of(e.getCause(), properties);
    } catch (Exception e) {
      throw Unchecked.unchecked(e);
    }
  }

  /**
   * Returns the end offsets by partition. Also reads the counter of sent records, which is complete
   * up to these offsets by then.
   */
  private Map<String, Long> now() throws ExecutionException, InterruptedException {
    Map<String, Long> found = TopicOffsets.offsets(admin, List.of(topic), OffsetSpec.latest());
    ends = found.values().stream().mapToLong(Long::longValue).sum();
    sent = counters.values().get(KafkaWriter.RECORDS_OUT);
    return found;
  }

  /**
   * Keeps the offsets of this batch and of the previous batch, which is valid until the commit is
   * written.
   */
  private void keep(long batch, Map<String, Long> found) throws IOException {
    String listed =
        found.entrySet().stream()
            .map(end -> "\"" + end.getKey() + "\":" + end.getValue())
            .collect(Collectors.joining(","));
    String text =
        String.format(
            "{\"topic\":\"%s\",\"time\":%d,\"ends\":{%s}}",
            id, System.currentTimeMillis(), listed);
    files.write(batch, text);
  }
}
