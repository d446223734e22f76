package io.streamtable.query;

import io.streamtable.metrics.Counters;
import io.streamtable.metrics.SourceMeter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/**
 * Sets the buffer timeout of real-time mode: how long rows wait for other rows on their way to the
 * next stage. The timeout is longer while no rows arrive, because a thread of each task wakes at
 * this interval to check for rows.
 *
 * <p>Spark's tasks read the timeout when they begin, so each commit sets it for the next batch. All
 * queries of the JVM share one timeout. On a cluster the executors keep their initial timeout, so
 * this class does nothing there.
 */
public final class BufferTimeout {
  private static final String KEY = "spark.shuffle.streaming.networkBufferMaxWaitTimeMs";
  private static final Map<String, BufferTimeout> BY_QUERY = new HashMap<>();
  /** The value in the session's configuration at startup; null if it was not set. */
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
   * Starts for a query in real-time mode that does not run yet.
   *
   * @param directory directory of the query's checkpoint
   * @param sources counters of the records that the query reads
   * @param whenQuietMs the timeout after a batch without records, in milliseconds
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

  /** Ends for a query. Does nothing if it was not started. */
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
