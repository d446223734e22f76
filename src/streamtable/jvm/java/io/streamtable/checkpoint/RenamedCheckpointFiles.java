package io.streamtable.checkpoint;

import io.streamtable.query.Commits;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager;

/**
 * Spark's file manager for file systems whose renames are atomic, such as HDFS. It writes only while
 * this process holds the checkpoint.
 */
final class RenamedCheckpointFiles extends FileContextBasedCheckpointFileManager {
  RenamedCheckpointFiles(Path path, Configuration configuration) {
    super(path, configuration);
  }

  @Override
  public void renameTempFile(Path from, Path to, boolean overwrite) {
    Commits.before(to);
    Lease.check(to);
    super.renameTempFile(from, to, overwrite);
  }

  @Override
  public void delete(Path path) {
    Lease.check(path);
    super.delete(path);
  }
}
