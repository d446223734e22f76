package io.streamtable.query;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;
import org.apache.hadoop.fs.Path;

/**
 * Calls listeners at each commit of a query, before the commit file is visible and the next batch
 * begins.
 */
public final class Commits {
  private static final Map<String, Map<Object, LongConsumer>> BY_FOLDER = new ConcurrentHashMap<>();

  private Commits() {}

  /**
   * Adds a listener to a query that does not run yet.
   *
   * @param directory directory of the query's checkpoint
   * @param owner key of the listener; a query has at most one listener per key
   * @param listener receives the number of the committed batch
   */
  public static void listen(String directory, Object owner, LongConsumer listener) {
    BY_FOLDER
        .computeIfAbsent(folder(directory), folder -> new ConcurrentHashMap<>())
        .put(owner, listener);
  }

  /** Removes the listener of a query. Does nothing if there is none. */
  public static void forget(String directory, Object owner) {
    BY_FOLDER.computeIfPresent(
        folder(directory),
        (folder, listeners) -> {
          listeners.remove(owner);
          return listeners.isEmpty() ? null : listeners;
        });
  }

  /**
   * Calls the listeners before a checkpoint file is renamed to its final name. Ignores files other
   * than commits of queries.
   */
  public static void before(Path file) {
    String folder = key(file.getParent());
    for (LongConsumer listener : BY_FOLDER.getOrDefault(folder, Map.of()).values()) {
      listener.accept(Long.parseLong(file.getName()));
    }
  }

  /** Returns whether two directories, as local paths or URIs, are the same. */
  static boolean isSame(String directory, String other) {
    return folder(directory).equals(folder(other));
  }

  private static String folder(String directory) {
    return key(new Path(directory, "commits"));
  }

  /** Returns the same name for a local path and its URI. */
  private static String key(Path path) {
    String authority = path.toUri().getAuthority();
    return (authority == null ? "" : authority) + path.toUri().getPath();
  }
}
