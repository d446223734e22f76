package io.streamtable.checkpoint;

import io.streamtable.query.Commits;
import io.streamtable.query.Unchecked;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.PathFilter;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;

/**
 * File manager for checkpoints in object stores, where a rename is a copy. A file is complete on a
 * local disk before its upload begins. It is uploaded under its final name, and only while this
 * process holds the checkpoint. The store refuses a second file of a name that may not be replaced.
 */
final class ObjectCheckpointFiles implements CheckpointFileManager {
  private final org.apache.hadoop.fs.Path folder;
  private final FileSystem files;

  ObjectCheckpointFiles(org.apache.hadoop.fs.Path folder, Configuration configuration)
      throws IOException {
    this.folder = folder;
    this.files = folder.getFileSystem(configuration);
  }

  @Override
  public CancellableFSDataOutputStream createAtomic(
      org.apache.hadoop.fs.Path path, boolean overwrite) {
    return Unchecked.call(
        () -> new Upload(Files.createTempFile("streamtable-", ".draft"), path, overwrite));
  }

  @Override
  public FSDataInputStream open(org.apache.hadoop.fs.Path path) {
    return Unchecked.call(() -> files.open(path));
  }

  @Override
  public FileStatus[] list(org.apache.hadoop.fs.Path path, PathFilter filter) {
    return Unchecked.call(() -> files.listStatus(path, filter));
  }

  @Override
  public void mkdirs(org.apache.hadoop.fs.Path path) {
    Unchecked.call(() -> files.mkdirs(path));
  }

  @Override
  public boolean exists(org.apache.hadoop.fs.Path path) {
    return Unchecked.call(() -> files.exists(path));
  }

  @Override
  public void delete(org.apache.hadoop.fs.Path path) {
    Lease.check(path);
    try {
      files.delete(path, true);
    } catch (FileNotFoundException e) {
      return; // deleted by another thread
    } catch (IOException e) {
      throw Unchecked.unchecked(e);
    }
  }

  @Override
  public boolean isLocal() {
    return false;
  }

  @Override
  public org.apache.hadoop.fs.Path createCheckpointDirectory() {
    org.apache.hadoop.fs.Path found = files.makeQualified(folder);
    mkdirs(found);
    return found;
  }

  /** A file on a local disk, uploaded by {@code close}. */
  private final class Upload extends CancellableFSDataOutputStream {
    private final Path draft;
    private final org.apache.hadoop.fs.Path target;
    private final boolean overwrite;
    private boolean ended;

    Upload(Path draft, org.apache.hadoop.fs.Path target, boolean overwrite) throws IOException {
      super(
          new java.io.BufferedOutputStream(
              Files.newOutputStream(draft, StandardOpenOption.TRUNCATE_EXISTING)));
      this.draft = draft;
      this.target = target;
      this.overwrite = overwrite;
    }

    @Override
    public synchronized void close() throws IOException {
      if (ended) {
        return;
      }
      ended = true;
      try {
        super.close();
        Commits.before(target);
        Lease.check(target);
        RemoteStore.upload(files, target, overwrite, out -> Files.copy(draft, out));
      } finally {
        Files.deleteIfExists(draft);
      }
    }

    @Override
    public synchronized void cancel() {
      if (ended) {
        return;
      }
      ended = true;
      try {
        super.close();
        Files.deleteIfExists(draft);
      } catch (IOException e) {
        throw Unchecked.unchecked(e);
      }
    }
  }
}
