package io.streamtable.checkpoint;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.classic.SparkSession;

/**
 * The file system of a checkpoint that is not on a local disk.
 *
 * <p>A file appears as a whole, or not at all, and only one of two processes that create a file
 * succeeds. An object store makes an object visible when its upload ends, on the condition that no
 * other object has the name. Any other file system gets a draft and renames it.
 */
public final class RemoteStore {
  /** Schemes of object stores, where a rename is a copy. */
  private static final Set<String> OBJECTS = Set.of("s3a", "gs");

  private static final String CONDITIONAL =
      Options.CreateFileOptionKeys.FS_OPTION_CREATE_CONDITIONAL_OVERWRITE;

  private final FileSystem files;
  private final FileContext renames;
  private final Path root;

  RemoteStore(Path root, Configuration configuration) throws IOException {
    this.files = root.getFileSystem(configuration);
    this.root = files.makeQualified(root);
    this.renames =
        isObjectStore(this.root) ? null : FileContext.getFileContext(this.root.toUri(), configuration);
  }

  /** Opens the store of a checkpoint's folder, with the Hadoop settings of a Spark session. */
  public static RemoteStore open(SparkSession spark, String root) throws IOException {
    return new RemoteStore(new Path(root), spark.sessionState().newHadoopConf());
  }

  static boolean isObjectStore(Path path) {
    String scheme = path.toUri().getScheme();
    return scheme != null && OBJECTS.contains(scheme);
  }

  /** Returns the folder of the checkpoint, with its scheme and its host. */
  public String root() {
    return root.toString();
  }

  /** Returns whether there is a file or folder. */
  public boolean exists(String path) throws IOException {
    return files.exists(new Path(path));
  }

  /** Returns whether there is a folder. */
  public boolean isFolder(String path) throws IOException {
    try {
      return files.getFileStatus(new Path(path)).isDirectory();
    } catch (FileNotFoundException e) {
      return false;
    }
  }

  /** Returns the names in a folder; none if it does not exist. */
  public List<String> list(String path) throws IOException {
    List<String> names = new ArrayList<>();
    try {
      for (FileStatus status : files.listStatus(new Path(path))) {
        names.add(status.getPath().getName());
      }
    } catch (FileNotFoundException e) {
      return List.of();
    }
    return names;
  }

  /** Returns the content of a file. */
  public byte[] read(String path) throws IOException {
    try (FSDataInputStream in = files.open(new Path(path))) {
      return in.readAllBytes();
    }
  }

  /** Writes or replaces a file as a whole, if this process holds the checkpoint. */
  public void write(String path, String text) throws IOException {
    Path target = new Path(path);
    Lease.check(target);
    put(target, text, true);
  }

  /** Writes or replaces a file that no job writes, whoever holds the checkpoint. */
  public void writeBeside(String path, String text) throws IOException {
    put(new Path(path), text, true);
  }

  /** Returns what tells whether a process holds the checkpoint. */
  public LeaseWatch watch() {
    return new LeaseWatch(this);
  }

  /** Creates a folder, if this process holds the checkpoint. */
  public void createFolder(String path) throws IOException {
    Lease.check(new Path(path));
    files.mkdirs(new Path(path));
  }

  /** Deletes a file, if this process holds the checkpoint; returns false if there is none. */
  public boolean delete(String path) throws IOException {
    Lease.check(new Path(path));
    return files.delete(new Path(path), false);
  }

  /** Deletes a folder with all that is in it, if this process holds the checkpoint. */
  public void deleteFolder(String path) throws IOException {
    Lease.check(new Path(path));
    files.delete(new Path(path), true);
  }

  /** Uses all rights that a job needs, on a file that is deleted again. */
  public void tryOut() throws IOException {
    Path probe = draft();
    put(probe, "probe", true);
    read(probe.toString());
    files.listStatus(probe.getParent());
    files.delete(probe, false);
  }

  /** Returns the time of a file by the clock of the store, in epoch milliseconds. */
  long modified(Path path) throws IOException {
    return files.getFileStatus(path).getModificationTime();
  }

  /** Returns the time by the clock of the store, in epoch milliseconds. */
  long now() throws IOException {
    Path probe = draft();
    put(probe, "time", true);
    long now = modified(probe);
    files.delete(probe, false);
    return now;
  }

  void discard(Path path) throws IOException {
    files.delete(path, false);
  }

  /**
   * Writes a file as a whole, whoever holds the checkpoint.
   *
   * @param overwrite whether to replace a file of the name
   * @throws FileAlreadyExistsException there is such a file, and it may not be replaced
   */
  void put(Path target, String text, boolean overwrite) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (renames == null) {
      upload(files, target, overwrite, out -> out.write(bytes));
      return;
    }
    Path draft = draft();
    try (OutputStream out = files.create(draft, true)) {
      out.write(bytes);
    }
    try {
      files.mkdirs(target.getParent());
      renames.rename(
          draft, target, overwrite ? Options.Rename.OVERWRITE : Options.Rename.NONE);
    } catch (IOException | RuntimeException e) {
      files.delete(draft, false);
      throw e;
    }
  }

  /** Writes content to a stream. */
  interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  /**
   * Uploads an object, which appears when the upload ends.
   *
   * @param overwrite whether to replace an object of the name
   * @throws FileAlreadyExistsException there is such an object, and it may not be replaced
   */
  static void upload(FileSystem files, Path target, boolean overwrite, Content content)
      throws IOException {
    FSDataOutputStreamBuilder<?, ?> builder =
        files.createFile(target).recursive().overwrite(overwrite);
    if (!overwrite) {
      builder.opt(CONDITIONAL, true);
    }
    try (OutputStream out = builder.build()) {
      content.writeTo(out);
    } catch (FileAlreadyExistsException e) {
      throw e;
    } catch (IOException e) {
      // The connectors report a failed condition in different ways.
      if (!overwrite && files.exists(target)) {
        throw new FileAlreadyExistsException(target + " already exists: " + e.getMessage());
      }
      throw e;
    }
  }

  /** Returns a path that Spark and other processes do not use. */
  private Path draft() {
    return new Path(root, ".drafts/" + UUID.randomUUID());
  }
}
