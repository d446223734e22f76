package io.streamtable.kafka.client;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs periodic work outside tasks. One thread keeps the timers and hands work to other threads, so
 * that work that waits for a cluster does not delay other work.
 */
public final class BackgroundTasks {
  private static final ScheduledThreadPoolExecutor TIMER =
      new ScheduledThreadPoolExecutor(1, named("streamtable-kafka-timer"));
  private static final ExecutorService WORKERS =
      Executors.newCachedThreadPool(named("streamtable-kafka-worker"));

  static {
    // A buffer lives for one batch. Its interval may be longer than thousands of batches.
    TIMER.setRemoveOnCancelPolicy(true);
  }

  private BackgroundTasks() {}

  /**
   * Runs work at an interval until it is cancelled. Skips a run while the previous run is active.
   */
  public static Future<?> every(long intervalMs, Runnable work) {
    AtomicBoolean running = new AtomicBoolean();
    Runnable guarded =
        () -> {
          try {
            work.run();
          } finally {
            running.set(false);
          }
        };
    Runnable tick =
        () -> {
          if (running.compareAndSet(false, true)) {
            WORKERS.execute(guarded);
          }
        };
    return TIMER.scheduleAtFixedRate(tick, intervalMs, intervalMs, TimeUnit.MILLISECONDS);
  }

  private static ThreadFactory named(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }
}
