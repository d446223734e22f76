package io.streamtable.kafka;

import io.streamtable.codec.Counters;
import io.streamtable.query.Commits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.OffsetSpec;

/**
 * Where the topic of a sink ends at each commit of a query in real-time mode. Between two batches
 * the query writes nothing, so that what the topic holds up to there is what its state at the commit
 * says.
 *
 * <p>Files of a query's checkpoint: {@code sinks/N} for the batch N, there before its commit is;
 * {@code sinks/shared} once the topic has grown by more records than the query has sent.
 */
public final class SinkPositions {
  private static final String SHARED = "shared";
  private static final long LONGEST_MS = 120_000;
  private static final Map<String, SinkPositions> BY_QUERY = new ConcurrentHashMap<>();

  private final Path folder;
  private final String topic;
  private final String id;
  private final Counters counters;
  private final Map<String, String> properties;
  private final Admin admin;
  private long ends;
  private long sent;

  private SinkPositions(
      Path folder, Map<String, String> properties, String topic, String id, Counters counters) {
    this.folder = folder;
    this.topic = topic;
    this.id = id;
    this.counters = counters;
    this.properties = new HashMap<>(properties);
    Map<String, Object> config = KafkaAdmin.known(properties);
    config.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, String.valueOf(LONGEST_MS));
    this.admin = Admin.create(config);
  }

  /**
   * Begins with a query in real-time mode, which has committed a batch (-1 for none) and writes
   * nothing yet.
   *
   * @param timeoutMs how long the brokers may take to answer now; at a commit they have two minutes
   * @param id of the topic
   * @param directory of the query's checkpoint
   * @param counters hold what {@link KafkaWriter} counts
   */
  public static void watch(
      Map<String, String> properties,
      long timeoutMs,
      String topic,
      String id,
      String directory,
      long batch,
      Counters counters)
      throws IOException, InterruptedException {
    Bootstrap.await(properties, timeoutMs);
    Path folder = Files.createDirectories(Path.of(directory, "sinks"));
    SinkPositions positions = new SinkPositions(folder, properties, topic, id, counters);
    try {
      positions.keep(batch, positions.now());
    } catch (ExecutionException e) {
      positions.admin.close(Duration.ZERO);
      throw KafkaFault.of(e.getCause(), properties);
    }
    BY_QUERY.put(directory, positions);
    Commits.listen(directory, SinkPositions.class, positions::commit);
  }

  /** Ends with the query; nothing happens where none is watched. */
  public static void forget(String directory) {
    Commits.forget(directory, SinkPositions.class);
    SinkPositions positions = BY_QUERY.remove(directory);
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
        Files.writeString(folder.resolve(SHARED), "");
      }
      keep(batch, found);
    } catch (ExecutionException e) {
      throw KafkaFault.of(e.getCause(), properties);
    } catch (Exception e) {
      throw unchecked(e);
    }
  }

  /** The ends by partition; what tasks have sent up to there is known by then. */
  private Map<String, Long> now() throws ExecutionException, InterruptedException {
    Map<String, Long> found = KafkaAdmin.offsets(admin, List.of(topic), OffsetSpec.latest());
    ends = found.values().stream().mapToLong(Long::longValue).sum();
    sent = counters.values().get(KafkaWriter.RECORDS_OUT);
    return found;
  }

  /** Those of this batch and of the one before, which counts until the commit is there. */
  private void keep(long batch, Map<String, Long> found) throws IOException {
    write(batch, found);
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(f -> isOld(f.getFileName().toString(), batch)).toList()) {
        Files.delete(file);
      }
    }
  }

  private void write(long batch, Map<String, Long> found) throws IOException {
    String listed =
        found.entrySet().stream()
            .map(end -> "\"" + end.getKey() + "\":" + end.getValue())
            .collect(Collectors.joining(","));
    String text =
        String.format(
            "{\"topic\":\"%s\",\"time\":%d,\"ends\":{%s}}",
            id, System.currentTimeMillis(), listed);
    Path draft = folder.resolve(".draft");
    Files.writeString(draft, text);
    Path target = folder.resolve(String.valueOf(batch));
    Files.move(
        draft, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static boolean isOld(String name, long batch) {
    if (!name.matches("-?\\d+")) {
      return false;
    }
    long other = Long.parseLong(name);
    return other != batch && other != batch - 1;
  }

  /** Spark, whose Scala declares no exceptions, ends a query quietly where it was interrupted. */
  @SuppressWarnings("unchecked")
  private static <E extends Throwable> RuntimeException unchecked(Throwable exception) throws E {
    throw (E) exception;
  }
}
