package io.streamtable.checkpoint;

import java.io.IOException;
import java.util.List;

/**
 * A folder in a checkpoint with small files of ours. A file has its old or its new content, also
 * after a crash.
 */
public interface CheckpointFolder {
  /**
   * Opens a folder, and creates it if it is missing.
   *
   * @param path a local path, or the URI of a folder in a checkpoint that this process holds
   */
  static CheckpointFolder open(String path) throws IOException {
    Lease lease = Lease.of(new org.apache.hadoop.fs.Path(path));
    return lease == null ? new LocalFolder(java.nio.file.Path.of(path)) : lease.folder(path);
  }

  /** Returns the content of a file; null if the file does not exist. */
  String read(String name) throws IOException;

  /** Writes or replaces a file. */
  void write(String name, String text) throws IOException;

  /** Deletes a file. */
  void delete(String name) throws IOException;

  /** Returns the names of all files. */
  List<String> list() throws IOException;
}
