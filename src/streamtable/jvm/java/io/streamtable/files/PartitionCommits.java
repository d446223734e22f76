package io.streamtable.files;

import io.streamtable.checkpoint.CheckpointFolder;
import java.io.IOException;
import java.time.DateTimeException;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Commits the partitions of a sink of files: writes a marker file into each partition whose time
 * has come.
 *
 * <p>A partition waits from the first batch that adds rows to it. By processing time, it is
 * committed a delay after that; by partition time, when the watermark is above the time of the
 * partition plus the delay. Later rows make it wait again. The list of waiting partitions is a file
 * in the query's checkpoint: the last batch that has added to it, then a line for each partition
 * with the time, in epoch milliseconds, from which it waits.
 *
 * <p>The sink adds partitions; the job's thread commits them between batches. Both get the same
 * object ({@link #of}).
 */
public final class PartitionCommits {
  private static final Map<String, PartitionCommits> OPEN = new ConcurrentHashMap<>();
  private static final String WAITING = "partitions";

  private final FileSystem fileSystem;
  private final Path directory;
  private final CheckpointFolder log;
  private final String successFile;
  private final long delay;
  private final PartitionTime time;
  private final Map<String, Long> waiting = new LinkedHashMap<>();
  private long batch = -1;

  private PartitionCommits(Configuration configuration, Map<String, String> options)
      throws IOException {
    directory = new Path(options.get("directory"));
    fileSystem = directory.getFileSystem(configuration);
    log = CheckpointFolder.open(options.get("log"));
    successFile = options.get("successfile");
    delay = Long.parseLong(options.get("commit.delay"));
    time = timeOf(options);
    String text = log.read(WAITING);
    if (text != null) {
      List<String> lines = text.lines().toList();
      batch = Long.parseLong(lines.get(0));
      for (String line : lines.subList(1, lines.size())) {
        String[] parts = line.split(" ", 2);
        waiting.put(parts[1], Long.parseLong(parts[0]));
      }
    }
  }

  /** Returns what is wrong with the time zone or the formatter of a sink; null for nothing. */
  public static String fault(Map<String, String> options) {
    try {
      timeOf(options);
      return null;
    } catch (DateTimeException | IllegalArgumentException e) {
      return e.getMessage();
    }
  }

  /** Returns the extractor of partition times; null by processing time. */
  private static PartitionTime timeOf(Map<String, String> options) {
    if (!Boolean.parseBoolean(options.get("commit.bytime"))) {
      return null;
    }
    return new PartitionTime(
        options.get("commit.pattern"), options.get("commit.formatter"), options.get("commit.zone"));
  }

  /**
   * Returns the commits of a sink, anew from its checkpoint.
   *
   * @param options those of {@link FileSinkProvider}
   */
  public static PartitionCommits open(Configuration configuration, Map<String, String> options)
      throws IOException {
    PartitionCommits found = new PartitionCommits(configuration, options);
    OPEN.put(options.get("log"), found);
    return found;
  }

  /** Returns the commits of a sink that are open, or opens them; null without a marker file. */
  static PartitionCommits of(Configuration configuration, Map<String, String> options)
      throws IOException {
    if (options.get("successfile") == null) {
      return null;
    }
    PartitionCommits found = OPEN.get(options.get("log"));
    return found == null ? open(configuration, options) : found;
  }

  /** Forgets the object, at the end of the job. */
  public void close() {
    OPEN.values().remove(this);
  }

  /**
   * Checks that partitions can be committed.
   *
   * @throws IllegalStateException naming a partition whose values give no time
   */
  void check(Collection<String> partitions) {
    if (time != null) {
      partitions.forEach(this::timeOf);
    }
  }

  /** Lets the partitions of a batch wait, and commits those that need not. */
  synchronized void add(long batch, Collection<String> partitions) throws IOException {
    if (batch <= this.batch) {
      return; // the batch runs again
    }
    long now = System.currentTimeMillis();
    this.batch = batch;
    partitions.forEach(partition -> waiting.putIfAbsent(partition, now));
    if (time == null && delay == 0) {
      commit(partition -> true);
    }
    save();
  }

  /**
   * Commits the partitions whose time has come.
   *
   * @param watermark the query's watermark in epoch milliseconds; 0 if it has none yet
   */
  public synchronized void advance(long watermark) throws IOException {
    long now = System.currentTimeMillis();
    Predicate<String> due =
        time == null
            ? partition -> delay == 0 || now > waiting.get(partition) + delay
            : partition -> watermark > timeOf(partition) + delay;
    if (commit(due)) {
      save();
    }
  }

  /** Commits all waiting partitions at the end of the input. */
  public synchronized void endInput() throws IOException {
    if (commit(partition -> true)) {
      save();
    }
  }

  private boolean commit(Predicate<String> due) throws IOException {
    boolean any = false;
    for (Iterator<String> each = waiting.keySet().iterator(); each.hasNext(); ) {
      String partition = each.next();
      if (due.test(partition)) {
        fileSystem.create(new Path(new Path(directory, partition), successFile), true).close();
        each.remove();
        any = true;
      }
    }
    return any;
  }

  private long timeOf(String partition) {
    try {
      return time.of(partition);
    } catch (DateTimeException e) {
      throw new IllegalStateException(
          "PARTITION_TIME_UNKNOWN partition '" + partition + "': " + e.getMessage(), e);
    }
  }

  private void save() throws IOException {
    StringBuilder text = new StringBuilder().append(batch).append('\n');
    waiting.forEach((partition, since) -> text.append(since + " " + partition + "\n"));
    log.write(WAITING, text.toString());
  }
}
