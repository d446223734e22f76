package io.streamtable.checkpoint;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.Path;

/**
 * The right of this process to write a checkpoint.
 *
 * <p>A thread renews the lease three times in its period. Every write asks first whether the period
 * has passed. If it has, because the process was paused or the store did not respond, the lease is
 * taken again with the next number. That fails if another process has taken the checkpoint; then
 * this process writes nothing more.
 */
public final class Lease implements AutoCloseable {
  private static final Map<Path, Lease> BY_ROOT = new ConcurrentHashMap<>();
  private static final long RETRY_MS = 1_000;

  private final RemoteStore store;
  private final LeaseFiles files;
  private final String root;
  private final LeaseHolder holder;
  private final Thread renewals;
  private volatile long deadline;
  private volatile String lost;
  private long number;
  private boolean closed;

  /** Starts the renewals of a lease that was created at a moment of {@link System#nanoTime}. */
  Lease(RemoteStore store, LeaseFiles files, LeaseHolder holder, long number, long sent) {
    this.store = store;
    this.files = files;
    this.root = store.root();
    this.holder = holder;
    this.number = number;
    this.deadline = sent + holder.ttlMs() * 1_000_000;
    BY_ROOT.put(new Path(root), this);
    renewals = new Thread(this::renewOften, "streamtable-lease");
    renewals.setDaemon(true);
    renewals.start();
  }

  /** Returns the lease of the checkpoint with a file; null in a process that runs tasks only. */
  public static Lease of(Path file) {
    for (Path at = file; at != null; at = at.getParent()) {
      Lease found = BY_ROOT.get(at);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /**
   * Checks before a write that this process holds the checkpoint with a file.
   *
   * @throws CheckpointLostException it does not
   */
  public static void check(Path file) {
    Lease lease = BY_ROOT.isEmpty() ? null : of(file);
    if (lease != null) {
      lease.check();
    }
  }

  /**
   * Checks before a write that the lease is valid; takes it again if its period has passed.
   *
   * @throws CheckpointLostException another process has taken the checkpoint
   */
  public void check() {
    if (lost == null && isInPeriod()) {
      return;
    }
    synchronized (this) {
      try {
        if (lost == null && !isInPeriod()) {
          takeAgain();
        }
      } catch (IOException e) {
        lost = "its lease has expired and cannot be renewed: " + e.getMessage();
      }
      if (lost != null) {
        throw new CheckpointLostException(root + ": " + lost);
      }
    }
  }

  CheckpointFolder folder(String path) {
    return new RemoteFolder(store, new Path(path));
  }

  /** Gives the checkpoint back. Later writes of this process fail. */
  @Override
  public void close() throws IOException {
    renewals.interrupt();
    synchronized (this) {
      closed = true;
      if (lost != null) {
        return;
      }
      lost = "this process has given it back";
      // After the period, another process may be about to take the checkpoint, and needs no help.
      if (isInPeriod()) {
        files.write(number, holder.asReleased());
      }
    }
  }

  private boolean isInPeriod() {
    return System.nanoTime() - deadline < 0;
  }

  private void renewOften() {
    long pause = holder.ttlMs() / 3;
    while (true) {
      try {
        Thread.sleep(pause);
        synchronized (this) {
          if (closed || lost != null) {
            return;
          }
          renew();
        }
        pause = holder.ttlMs() / 3;
      } catch (IOException | RuntimeException e) {
        pause = RETRY_MS; // writes fail when the period has passed
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void renew() throws IOException {
    if (!isInPeriod()) {
      takeAgain();
      return;
    }
    long sent = System.nanoTime();
    files.write(number, holder);
    if (files.newest() > number) {
      lose();
    } else {
      deadline = sent + holder.ttlMs() * 1_000_000;
    }
  }

  private void takeAgain() throws IOException {
    long sent = System.nanoTime();
    if (files.newest() == number && files.create(number + 1, holder)) {
      number++;
      deadline = sent + holder.ttlMs() * 1_000_000;
      files.deleteBefore(number);
    } else {
      lose();
    }
  }

  private void lose() throws IOException {
    LeaseHolder other = files.read(files.newest());
    lost = other == null ? "another process has taken it" : other.toString();
  }
}
