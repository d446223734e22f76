package io.streamtable.checkpoint;

import java.io.IOException;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;

/**
 * Files of a folder in a checkpoint whose names are numbers of batches. Those of the last two batches
 * are kept, because the newest batch may not be committed.
 */
public final class BatchFiles {
  private final CheckpointFolder folder;
  private final Set<Long> kept = new HashSet<>();

  /** @param folder may have other files, which stay */
  public BatchFiles(CheckpointFolder folder) throws IOException {
    this.folder = folder;
    for (String name : folder.list()) {
      if (name.matches("-?\\d+")) {
        kept.add(Long.valueOf(name));
      }
    }
  }

  /** Returns the content of a batch's file; null if there is none. */
  public String read(long batch) throws IOException {
    return folder.read(String.valueOf(batch));
  }

  /** Writes the file of a batch, and deletes those of all batches but this one and the previous. */
  public void write(long batch, String text) throws IOException {
    folder.write(String.valueOf(batch), text);
    kept.add(batch);
    for (Iterator<Long> other = kept.iterator(); other.hasNext(); ) {
      long number = other.next();
      if (number != batch && number != batch - 1) {
        folder.delete(String.valueOf(number));
        other.remove();
      }
    }
  }
}
