package io.streamtable.query;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** Writes files so that a power failure leaves the new file or the old file, complete. */
public final class DurableFiles {
  private DurableFiles() {}

  /**
   * Renames a draft and replaces a file of that name. The content is on disk before the rename, and
   * the new name is on disk when this method returns.
   */
  public static void rename(Path draft, Path target) throws IOException {
    force(draft, StandardOpenOption.WRITE);
    Files.move(draft, target, StandardCopyOption.ATOMIC_MOVE);
    force(target.toAbsolutePath().getParent(), StandardOpenOption.READ);
  }

  private static void force(Path path, StandardOpenOption option) throws IOException {
    try (FileChannel channel = FileChannel.open(path, option)) {
      channel.force(true);
    }
  }
}
