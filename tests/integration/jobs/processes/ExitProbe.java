import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.util.ShutdownHookManager;
import scala.runtime.BoxedUnit;

/** Looks for open state stores when a JVM ends, just before Spark deletes its files. */
public final class ExitProbe {
  private ExitProbe() {}

  /** Writes the names of the stores that are open then, one per line. */
  public static void atExit(String localFiles, String found) {
    ShutdownHookManager.addShutdownHook(
        ShutdownHookManager.TEMP_DIR_SHUTDOWN_PRIORITY() + 1,
        () -> {
          write(Path.of(found), open(localFiles));
          return BoxedUnit.UNIT;
        });
  }

  /** Returns the names of the open stores: each has a directory as long as it is open. */
  public static List<String> open(String localFiles) {
    try (Stream<Path> files = Files.walk(Path.of(localFiles))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.startsWith("StateStoreId"))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void write(Path file, List<String> lines) {
    try {
      Files.write(file, lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
