package io.streamtable.query;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager;

/**
 * Spark's file manager for checkpoints, with direct calls for local files. Hadoop starts processes
 * (chmod, readlink) for local files: ten per file, and about seventy while a query of one operator
 * waits for its checkpoint. This class also writes the content to disk before the rename, which
 * Hadoop does not ensure. It calls {@link Commits} before a commit becomes visible.
 */
public final class LocalCheckpointFiles extends FileContextBasedCheckpointFileManager {
  private final boolean local;
  private final Path folder;

  /** Spark creates one object for each folder of a checkpoint. */
  public LocalCheckpointFiles(Path path, Configuration configuration) {
    super(path, configuration);
    this.local = isLocal();
    this.folder = path;
  }

  @Override
  public FSDataOutputStream createTempFile(Path path) {
    if (!local) {
      return super.createTempFile(path);
    }
    try {
      return new FSDataOutputStream(
          new BufferedOutputStream(Files.newOutputStream(onDisk(path))), null);
    } catch (IOException e) {
      throw Unchecked.unchecked(e);
    }
  }

  @Override
  public void renameTempFile(Path from, Path to, boolean overwrite) {
    Commits.before(to);
    if (!local) {
      super.renameTempFile(from, to, overwrite);
      return;
    }
    try {
      if (!overwrite && Files.exists(onDisk(to))) {
        throw new FileAlreadyExistsException("rename destination " + to + " already exists.");
      }
      // Hadoop would check the new content against the checksum of the old content.
      Files.deleteIfExists(onDisk(new Path(to.getParent(), "." + to.getName() + ".crc")));
      DurableFiles.rename(onDisk(from), onDisk(to));
    } catch (IOException e) {
      throw Unchecked.unchecked(e);
    }
  }

  @Override
  public void mkdirs(Path path) {
    createOnDisk(path);
    super.mkdirs(path);
  }

  @Override
  public Path createCheckpointDirectory() {
    createOnDisk(folder);
    return super.createCheckpointDirectory();
  }

  /** Hadoop starts a process for each folder that it creates itself. */
  private void createOnDisk(Path path) {
    if (!local) {
      return;
    }
    try {
      Files.createDirectories(onDisk(path));
    } catch (IOException e) {
      throw Unchecked.unchecked(e);
    }
  }

  private static java.nio.file.Path onDisk(Path path) {
    return java.nio.file.Path.of(path.toUri().getPath());
  }
}
