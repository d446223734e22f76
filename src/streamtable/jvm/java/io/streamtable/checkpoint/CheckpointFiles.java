package io.streamtable.checkpoint;

import io.streamtable.query.LocalCheckpointFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;

/** Spark's file manager for the checkpoints of our jobs, chosen by the scheme of the path. */
public final class CheckpointFiles implements CheckpointFileManager {
  private static final Set<String> RENAMED = Set.of("hdfs", "abfs", "abfss");

  private final CheckpointFileManager files;

  /** Spark creates one object for each folder of a checkpoint. */
  public CheckpointFiles(Path path, Configuration configuration) {
    String scheme = path.toUri().getScheme();
    try {
      if (RemoteStore.isObjectStore(path)) {
        files = new ObjectCheckpointFiles(path, configuration);
      } else if (scheme != null && RENAMED.contains(scheme)) {
        files = new RenamedCheckpointFiles(path, configuration);
      } else {
        files = new LocalCheckpointFiles(path, configuration);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public CancellableFSDataOutputStream createAtomic(Path path, boolean overwrite) {
    return files.createAtomic(path, overwrite);
  }

  @Override
  public FSDataInputStream open(Path path) {
    return files.open(path);
  }

  @Override
  public FileStatus[] list(Path path, PathFilter filter) {
    return files.list(path, filter);
  }

  @Override
  public FileStatus[] list(Path path) {
    return files.list(path);
  }

  @Override
  public void mkdirs(Path path) {
    files.mkdirs(path);
  }

  @Override
  public boolean exists(Path path) {
    return files.exists(path);
  }

  @Override
  public void delete(Path path) {
    files.delete(path);
  }

  @Override
  public boolean isLocal() {
    return files.isLocal();
  }

  @Override
  public Path createCheckpointDirectory() {
    return files.createCheckpointDirectory();
  }

  @Override
  public void close() {
    files.close();
  }
}
