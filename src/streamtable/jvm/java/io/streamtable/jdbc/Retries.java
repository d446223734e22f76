package io.streamtable.jdbc;

import java.util.concurrent.TimeUnit;

/** Waits between two attempts. */
final class Retries {
  private Retries() {}

  /** Waits longer after each attempt, as Flink does: 1 s, 2 s, and so on. */
  static void pause(int attempt) {
    try {
      TimeUnit.SECONDS.sleep(attempt + 1L);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("stopped between two attempts", e);
    }
  }
}
