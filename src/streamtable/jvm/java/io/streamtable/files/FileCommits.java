package io.streamtable.files;

import io.streamtable.checkpoint.CheckpointFolder;
import io.streamtable.checkpoint.Lease;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;

/**
 * Moves the files of each batch to their final places, exactly once.
 *
 * <p>A batch is staged in a hidden directory of the table. When the batch is complete, a log in the
 * query's checkpoint lists the targets of its files. Then the files are renamed, and the log marks
 * the batch as done. After a crash, a staging directory without a list is deleted, and the renames
 * of a listed one continue. So a reader of the table sees only complete files, and each batch once.
 */
final class FileCommits {
  private static final String PREPARED = "prepared";
  private static final String DONE = "done";

  private final FileSystem fileSystem;
  private final Path directory;
  private final Path staging;
  private final String id;
  private final CheckpointFolder log;
  private final String extension;
  private final PartitionCommits partitions;

  /**
   * Opens the commits of a query.
   *
   * @param directory directory of the table
   * @param id id of the query, which is part of the names of its files
   * @param log a folder in the query's checkpoint
   * @param extension extension of the files, with its dot
   * @param partitions commits of the partitions that batches add to; null for none
   */
  FileCommits(
      Configuration configuration,
      Path directory,
      String id,
      String log,
      String extension,
      PartitionCommits partitions) {
    try {
      fileSystem = directory.getFileSystem(configuration);
      this.log = CheckpointFolder.open(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.directory = fileSystem.makeQualified(directory);
    // A job that has lost its lease may still write files: it has a directory of its own.
    String run = Lease.of(new Path(log)) == null ? "" : "-" + UUID.randomUUID();
    this.staging = new Path(this.directory, ".staging-" + id + run);
    this.id = id;
    this.extension = extension;
    this.partitions = partitions;
  }

  /** Returns whether the files of a batch are at their final places, or staged and listed. */
  boolean isPrepared(long batch) {
    return newest(PREPARED) >= batch || newest(DONE) >= batch;
  }

  /** Creates a directory for the files of a batch, and removes files of an earlier attempt. */
  Path begin() {
    try {
      fileSystem.delete(staging, true);
      if (!staging.getName().equals(".staging-" + id)) {
        FileStatus[] earlier =
            fileSystem.globStatus(new Path(directory, ".staging-" + id + "-????????-*"));
        for (FileStatus run : earlier == null ? new FileStatus[0] : earlier) {
          fileSystem.delete(run.getPath(), true);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return staging;
  }

  /** Lists the targets of the files of a staged batch. */
  void prepare(long batch) {
    List<String> lines = new ArrayList<>();
    lines.add(Long.toString(batch));
    try {
      list(staging, batch, lines);
      if (partitions != null) {
        partitions.check(partitionsOf(lines));
      }
      write(PREPARED, lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Moves the files of a prepared batch to their final places. */
  void finish(long batch) {
    if (newest(DONE) >= batch) {
      return;
    }
    try {
      List<String> lines = log.read(PREPARED).lines().toList();
      for (String line : lines.subList(1, lines.size())) {
        String[] ends = line.split(" ", 2);
        move(new Path(URI.create(ends[0])), new Path(URI.create(ends[1])));
      }
      if (partitions != null) {
        partitions.add(batch, partitionsOf(lines));
      }
      write(DONE, List.of(Long.toString(batch)));
      fileSystem.delete(staging, true);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the partitions of listed files: directories below that of the table. */
  private Set<String> partitionsOf(List<String> lines) {
    Set<String> found = new LinkedHashSet<>();
    for (String line : lines.subList(1, lines.size())) {
      Path partition = new Path(URI.create(line.split(" ", 2)[1])).getParent();
      String below = partition.toUri().getPath().substring(directory.toUri().getPath().length());
      found.add(below.startsWith("/") ? below.substring(1) : below);
    }
    return found;
  }

  private void move(Path staged, Path target) throws IOException {
    if (!fileSystem.exists(staged)) {
      return; // renamed before a crash
    }
    fileSystem.mkdirs(target.getParent());
    if (!fileSystem.rename(staged, target)) {
      throw new IOException("cannot rename " + staged + " to " + target);
    }
  }

  /** Adds a line for each file with rows below a staging directory: its source and its target. */
  private void list(Path at, long batch, List<String> lines) throws IOException {
    for (FileStatus child : fileSystem.listStatus(at)) {
      Path path = child.getPath();
      if (child.isDirectory()) {
        if (!path.getName().startsWith("_") || path.getName().contains("=")) {
          list(path, batch, lines);
        }
      } else if (!path.getName().startsWith("_") && hasRows(child)) {
        String below = at.toUri().getPath().substring(staging.toUri().getPath().length());
        String name = "part-" + id + "-" + batch + "-" + (lines.size() - 1) + extension;
        Path partition = below.isEmpty() ? directory : new Path(directory, below.substring(1));
        lines.add(path.toUri() + " " + new Path(partition, name).toUri());
      }
    }
  }

  /** Returns whether a file has rows. Spark's first task writes a file even if it has no rows. */
  private boolean hasRows(FileStatus file) throws IOException {
    if (file.getLen() == 0 || !extension.equals(".parquet")) {
      return file.getLen() > 0;
    }
    HadoopInputFile input = HadoopInputFile.fromStatus(file, fileSystem.getConf());
    try (ParquetFileReader reader = ParquetFileReader.open(input)) {
      return reader.getRecordCount() > 0;
    }
  }

  /** Returns the batch in a file of the log; -1 if the file does not exist. */
  private long newest(String name) {
    try {
      String text = log.read(name);
      return text == null ? -1 : Long.parseLong(text.lines().findFirst().orElseThrow());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void write(String name, List<String> lines) throws IOException {
    log.write(name, String.join("\n", lines) + "\n");
  }

  @Override
  public String toString() {
    return directory.toString();
  }
}
