package io.streamtable.files;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Lists the files of a table: the files below a directory or below all matches of a glob, or one
 * file.
 *
 * <p>As in Flink, names that begin with a dot or an underscore are hidden, except a partition
 * directory {@code _key=value}. A file without bytes has no rows and is omitted, so that it counts
 * once it has rows.
 */
public final class FileListing {
  /** A listed file. */
  public record Found(String path, long modified, long size) {}

  private final Configuration configuration;
  private final Path directory;
  private final Pattern pattern;

  /**
   * Creates a listing.
   *
   * @param directory the directory to list; may be a glob
   * @param pattern pattern of the path of a file, without scheme and authority; null for any path
   */
  public FileListing(Configuration configuration, String directory, String pattern) {
    this.configuration = configuration;
    this.directory = new Path(directory);
    this.pattern = pattern == null ? null : Pattern.compile(pattern);
  }

  /** Returns whether the file or directory, or a match of the glob, exists. */
  public boolean exists() throws IOException {
    return roots().length > 0;
  }

  /** Returns the files that exist now, the oldest first. */
  public List<Found> list() throws IOException {
    List<Found> found = new ArrayList<>();
    for (FileStatus root : roots()) {
      add(root, found);
    }
    found.sort(Comparator.comparingLong(Found::modified).thenComparing(Found::path));
    return found;
  }

  private FileStatus[] roots() throws IOException {
    FileStatus[] matched = fileSystem().globStatus(directory);
    return matched == null ? new FileStatus[0] : matched;
  }

  private void add(FileStatus status, List<Found> found) throws IOException {
    if (!status.isDirectory()) {
      Path path = status.getPath();
      boolean wanted = pattern == null || pattern.matcher(path.toUri().getPath()).matches();
      if (wanted && status.getLen() > 0) {
        found.add(new Found(path.toString(), status.getModificationTime(), status.getLen()));
      }
      return;
    }
    FileStatus[] children;
    try {
      children = fileSystem().listStatus(status.getPath());
    } catch (FileNotFoundException deleted) {
      return; // deleted between two calls
    }
    for (FileStatus child : children) {
      if (!isHidden(child.getPath().getName())) {
        add(child, found);
      }
    }
  }

  private FileSystem fileSystem() throws IOException {
    return directory.getFileSystem(configuration);
  }

  private static boolean isHidden(String name) {
    return name.startsWith(".") || (name.startsWith("_") && !name.contains("="));
  }
}
