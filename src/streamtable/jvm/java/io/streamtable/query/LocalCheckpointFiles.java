package io.streamtable.query;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager;

/**
 * The files of checkpoints. Those on a disk of this machine are written by calls of its file
 * system, where Hadoop's starts processes (chmod, readlink) instead: ten for each file, some
 * seventy while a query of one operator stands still for its checkpoint. Before a commit is there to
 * be seen, {@link Commits} hears of it.
 */
public final class LocalCheckpointFiles extends FileContextBasedCheckpointFileManager {
  private final boolean local;

  /** Spark makes one for each folder of a checkpoint. */
  public LocalCheckpointFiles(Path path, Configuration configuration) {
    super(path, configuration);
    this.local = isLocal();
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
      throw unchecked(e);
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
      // Hadoop would check the new content by the sum that it kept beside the old one.
      Files.deleteIfExists(onDisk(new Path(to.getParent(), "." + to.getName() + ".crc")));
      Files.move(onDisk(from), onDisk(to), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw unchecked(e);
    }
  }

  private static java.nio.file.Path onDisk(Path path) {
    return java.nio.file.Path.of(path.toUri().getPath());
  }

  /** Spark, whose Scala declares no exceptions, catches some of these by their kind. */
  @SuppressWarnings("unchecked")
  private static <E extends Throwable> RuntimeException unchecked(Throwable exception) throws E {
    throw (E) exception;
  }
}
