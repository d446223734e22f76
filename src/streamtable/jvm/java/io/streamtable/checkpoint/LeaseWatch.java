package io.streamtable.checkpoint;

import java.io.FileNotFoundException;
import java.io.IOException;

/**
 * Tells whether a process holds a checkpoint, without taking it or writing to it.
 *
 * <p>A lease that was not given back counts as held until its period has passed without a renewal,
 * by the monotonic clock of this process. A killed holder is therefore noticed only after that time.
 */
public final class LeaseWatch {
  private final LeaseFiles files;
  private String renewal = "";
  private long seenAt;

  LeaseWatch(RemoteStore store) {
    files = new LeaseFiles(store);
  }

  /** Returns whether a process holds the checkpoint, or may hold it. */
  public boolean isHeld() throws IOException {
    while (true) {
      long newest = files.newest();
      if (newest == 0) {
        return false;
      }
      LeaseHolder holder = files.read(newest);
      if (holder == null) {
        continue; // another process has just taken the checkpoint
      }
      if (holder.released()) {
        return false;
      }
      try {
        return isRenewed(newest + " " + files.renewed(newest), holder.ttlMs());
      } catch (FileNotFoundException e) {
        continue;
      }
    }
  }

  private boolean isRenewed(String found, long ttlMs) {
    long now = System.nanoTime();
    if (!found.equals(renewal)) {
      renewal = found;
      seenAt = now;
    }
    return (now - seenAt) / 1_000_000 <= ttlMs + LeaseRequest.GRACE_MS;
  }
}
