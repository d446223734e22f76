package io.streamtable.files;

import io.streamtable.checkpoint.CheckpointFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSource.FileEntry;

/**
 * Tracks the files that a scan has not read yet.
 *
 * <p>A bounded scan reads the files that exist at its first start. The list is stored next to the
 * source's checkpoint, so that a restart reads the remaining files. Any other scan looks for new
 * files at an interval. A file counts as read when a batch contains it, whatever happens to its
 * content later.
 */
final class FileBacklog {
  private final FileListing listing;
  private final String folder;
  private final String bound;
  private final boolean bounded;
  private final long intervalMs;
  private final Set<String> seen = new HashSet<>();
  private final Deque<FileListing.Found> waiting = new ArrayDeque<>();
  private boolean closed;
  private long lookAgainAt = Long.MIN_VALUE;

  FileBacklog(FileListing listing, String metadataPath, boolean bounded, long intervalMs) {
    this.listing = listing;
    Path path = new Path(metadataPath);
    boolean local = path.toUri().getScheme() == null || path.toUri().getScheme().equals("file");
    this.folder = local ? path.getParent().toUri().getPath() : path.getParent().toString();
    this.bound = path.getName() + ".files";
    this.bounded = bounded;
    this.intervalMs = intervalMs;
  }

  /** Marks the files of earlier batches as read. */
  void restore(FileEntry[] entries) {
    for (FileEntry entry : entries) {
      seen.add(entry.sparkPath().toPath().toString());
    }
  }

  /** Lists the files for the last time: the rest of this run reads the files that exist now. */
  void close() {
    look();
    closed = true;
  }

  /** Returns the files of the next batch, at least one if any is waiting; empty if none is. */
  List<FileListing.Found> take(long bytes) {
    if (waiting.isEmpty() && !closed && System.currentTimeMillis() >= lookAgainAt) {
      look();
    }
    List<FileListing.Found> taken = new ArrayList<>();
    long size = 0;
    while (!waiting.isEmpty() && (taken.isEmpty() || size + waiting.peek().size() <= bytes)) {
      FileListing.Found file = waiting.poll();
      taken.add(file);
      size += file.size();
    }
    return taken;
  }

  private void look() {
    try {
      for (FileListing.Found file : bounded ? boundedFiles() : listing.list()) {
        if (seen.add(file.path())) {
          waiting.add(file);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    closed |= bounded;
    lookAgainAt = System.currentTimeMillis() + intervalMs;
  }

  private List<FileListing.Found> boundedFiles() throws IOException {
    List<FileListing.Found> found = new ArrayList<>();
    CheckpointFolder log = CheckpointFolder.open(folder);
    String kept = log.read(bound);
    if (kept != null) {
      for (String line : kept.lines().toList()) {
        String[] parts = line.split(" ", 3);
        // As a URI, because a name may contain a line end.
        String path = new Path(URI.create(parts[2])).toString();
        found.add(new FileListing.Found(path, Long.parseLong(parts[0]), Long.parseLong(parts[1])));
      }
      return found;
    }
    found = listing.list();
    List<String> lines = new ArrayList<>();
    for (FileListing.Found file : found) {
      URI uri = new Path(file.path()).toUri();
      lines.add(file.modified() + " " + file.size() + " " + uri.toString());
    }
    log.write(bound, lines.isEmpty() ? "" : String.join("\n", lines) + "\n");
    return found;
  }
}
