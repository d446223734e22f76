package io.streamtable.query;

import io.streamtable.codec.Counters;
import io.streamtable.codec.SourceMeter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/**
 * How long rows of real-time mode wait for others on their way to the next stage: longer while
 * nothing comes, as a thread of each task wakes as often to see whether a row is there.
 *
 * <p>Spark's tasks read the time when they begin, so that a commit decides it for the batch after.
 * It is one for all queries of the JVM. On a cluster, whose executors keep the one that they started
 * with, nothing happens.
 */
public final class BufferTimeout {
  private static final String KEY = "spark.shuffle.streaming.networkBufferMaxWaitTimeMs";
  private static final Map<String, BufferTimeout> BY_QUERY = new HashMap<>();
  /** What the session was started with; null where it says nothing. */
  private static String usual;

  private final List<Counters> sources;
  private final String whenQuiet;
  private long read;
  private boolean quiet;

  private BufferTimeout(List<Counters> sources, String whenQuiet) {
    this.sources = sources;
    this.whenQuiet = whenQuiet;
    this.read = recordsIn();
  }

  /**
   * Begins with a query in real-time mode that does not run yet.
   *
   * @param directory of the query's checkpoint
   * @param sources count the records that it reads
   * @param whenQuietMs the time after a batch without a record
   */
  public static synchronized void begin(
      String directory, List<Counters> sources, long whenQuietMs) {
    if (!SparkEnv.get().conf().get("spark.master").startsWith("local")) {
      return;
    }
    if (BY_QUERY.isEmpty()) {
      usual = SparkEnv.get().conf().get(KEY, null);
    }
    BufferTimeout query = new BufferTimeout(sources, String.valueOf(whenQuietMs));
    BY_QUERY.put(directory, query);
    set(usual);
    Commits.listen(directory, BufferTimeout.class, batch -> committed(query));
  }

  /** Ends with the query; nothing happens where none has begun. */
  public static synchronized void end(String directory) {
    Commits.forget(directory, BufferTimeout.class);
    if (BY_QUERY.remove(directory) != null) {
      set(usual);
    }
  }

  private static synchronized void committed(BufferTimeout query) {
    long before = query.read;
    query.read = query.recordsIn();
    query.quiet = query.read == before;
    boolean all = BY_QUERY.values().stream().allMatch(other -> other.quiet);
    set(all ? query.whenQuiet : usual);
  }

  private long recordsIn() {
    return sources.stream().mapToLong(counters -> counters.of(SourceMeter.RECORDS_IN).value()).sum();
  }

  private static void set(String milliseconds) {
    SparkConf conf = SparkEnv.get().conf();
    if (milliseconds == null) {
      conf.remove(KEY);
    } else {
      conf.set(KEY, milliseconds);
    }
  }
}
