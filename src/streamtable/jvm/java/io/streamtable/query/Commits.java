package io.streamtable.query;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

/**
 * Calls listeners at each commit of a query, before the commit file is visible and the next batch
 * begins.
 */
public final class Commits {
  private static final Map<Path, Map<Class<?>, LongConsumer>> BY_FOLDER = new ConcurrentHashMap<>();

  private Commits() {}

  /**
   * Adds a listener to a query that does not run yet.
   *
   * @param directory directory of the query's checkpoint
   * @param owner the class of the listener; each class has at most one listener per query
   * @param listener receives the number of the committed batch
   */
  public static void listen(String directory, Class<?> owner, LongConsumer listener) {
    BY_FOLDER
        .computeIfAbsent(folder(directory), folder -> new ConcurrentHashMap<>())
        .put(owner, listener);
  }

  /** Removes the listener of a query. Does nothing if there is none. */
  public static void forget(String directory, Class<?> owner) {
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
  static void before(org.apache.hadoop.fs.Path file) {
    Path path = Path.of(file.toUri().getPath());
    for (LongConsumer listener : BY_FOLDER.getOrDefault(path.getParent(), Map.of()).values()) {
      listener.accept(Long.parseLong(path.getFileName().toString()));
    }
  }

  private static Path folder(String directory) {
    return Path.of(directory).resolve("commits");
  }
}
