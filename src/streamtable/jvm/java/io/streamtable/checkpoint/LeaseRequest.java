package io.streamtable.checkpoint;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.UUID;

/** Attempts to become the holder of a checkpoint. */
public final class LeaseRequest {
  /** Object stores round times to seconds; the file and the present may both be rounded. */
  static final long GRACE_MS = 2_000;

  private final RemoteStore store;
  private final LeaseFiles files;
  private final LeaseHolder holder;
  private Lease lease;
  private long storeTime = -1;
  private long askedAt;

  /**
   * Prepares a request.
   *
   * @param host name of this machine, for messages
   * @param pid number of the job's process
   * @param ttlMs how long a lease is valid after a renewal
   */
  public LeaseRequest(RemoteStore store, String host, long pid, long ttlMs) {
    this.store = store;
    this.files = new LeaseFiles(store);
    this.holder = LeaseHolder.now(UUID.randomUUID().toString(), host, pid, ttlMs);
  }

  /**
   * The lease of another process.
   *
   * @param renewal identifies the last renewal
   * @param leftMs time until the lease expires, if it is not renewed
   */
  public record Held(LeaseHolder by, String renewal, long leftMs) {}

  /** Takes the checkpoint, and returns null; or returns the lease of another process. */
  public Held attempt() throws IOException {
    while (true) {
      long newest = files.newest();
      if (newest > 0) {
        LeaseHolder found = files.read(newest);
        if (found == null) {
          continue; // another process has just taken the checkpoint
        }
        if (!found.released()) {
          long renewed;
          try {
            renewed = files.renewed(newest);
          } catch (FileNotFoundException e) {
            continue;
          }
          long left = renewed + found.ttlMs() + GRACE_MS - storeTime();
          if (left >= 0) {
            return new Held(found, newest + " " + renewed, left);
          }
        }
      }
      long sent = System.nanoTime();
      if (files.create(newest + 1, holder)) {
        files.deleteBefore(newest + 1);
        lease = new Lease(store, files, holder, newest + 1, sent);
        return null;
      }
    }
  }

  /** Returns the lease after a successful attempt. */
  public Lease lease() {
    return lease;
  }

  /** Returns the store's time, or an earlier time. Clocks of machines may differ. */
  private long storeTime() throws IOException {
    if (storeTime < 0) {
      storeTime = store.now();
      askedAt = System.nanoTime();
    }
    return storeTime + (System.nanoTime() - askedAt) / 1_000_000;
  }
}
