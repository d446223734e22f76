package io.streamtable.checkpoint;

import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;

/**
 * The files {@code lease/N} of a checkpoint. Lease N+1 begins when a process creates its file, which
 * succeeds for one process only. The newest file is that of the current or last holder.
 */
final class LeaseFiles {
  private final RemoteStore store;
  private final Path folder;

  LeaseFiles(RemoteStore store) {
    this.store = store;
    this.folder = new Path(store.root(), "lease");
  }

  /** Returns the number of the newest lease; 0 if there was none. */
  long newest() throws IOException {
    return store.list(folder.toString()).stream()
        .filter(name -> name.matches("\\d+"))
        .mapToLong(Long::parseLong)
        .max()
        .orElse(0);
  }

  /** Returns the content of a lease file; null if a newer holder has deleted the file. */
  LeaseHolder read(long number) throws IOException {
    try {
      return LeaseHolder.of(store.read(file(number).toString()));
    } catch (FileNotFoundException e) {
      return null;
    }
  }

  /** Returns the time of the last renewal by the clock of the store, in epoch milliseconds. */
  long renewed(long number) throws IOException {
    return store.modified(file(number));
  }

  /** Renews a lease. */
  void write(long number, LeaseHolder holder) throws IOException {
    store.put(file(number), holder.json(), true);
  }

  /** Creates a lease; returns false if another process has created it or a later one. */
  boolean create(long number, LeaseHolder holder) throws IOException {
    try {
      store.put(file(number), holder.json(), false);
    } catch (FileAlreadyExistsException e) {
      // The store may have repeated a request of ours whose answer was lost.
      LeaseHolder found = read(number);
      if (found == null || !found.id().equals(holder.id())) {
        return false;
      }
    }
    // Files of earlier holders are deleted: a slow process may have created one of them again.
    return newest() == number;
  }

  /** Deletes the files of earlier leases. */
  void deleteBefore(long number) throws IOException {
    for (String name : store.list(folder.toString())) {
      if (name.matches("\\d+") && Long.parseLong(name) < number) {
        store.discard(new Path(folder, name));
      }
    }
  }

  private Path file(long number) {
    return new Path(folder, Long.toString(number));
  }
}
