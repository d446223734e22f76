package io.streamtable.query;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

/** What is done at each commit of a query, before the commit is there and the next batch begins. */
public final class Commits {
  private static final Map<Path, Map<Class<?>, LongConsumer>> BY_FOLDER = new ConcurrentHashMap<>();

  private Commits() {}

  /**
   * Begins with a query that does not run yet.
   *
   * @param directory of the query's checkpoint
   * @param owner has one listener of a query at a time
   * @param listener takes the batch that is committed
   */
  public static void listen(String directory, Class<?> owner, LongConsumer listener) {
    BY_FOLDER
        .computeIfAbsent(folder(directory), folder -> new ConcurrentHashMap<>())
        .put(owner, listener);
  }

  /** Ends with the query; nothing happens where none has begun. */
  public static void forget(String directory, Class<?> owner) {
    BY_FOLDER.computeIfPresent(
        folder(directory),
        (folder, listeners) -> {
          listeners.remove(owner);
          return listeners.isEmpty() ? null : listeners;
        });
  }

  /** Before a file of a checkpoint gets its name; only those of commits of queries are looked at. */
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
