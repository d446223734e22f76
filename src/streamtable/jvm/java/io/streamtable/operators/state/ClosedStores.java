package io.streamtable.operators.state;

import org.apache.spark.sql.execution.streaming.state.StateStore$;
import org.apache.spark.util.ShutdownHookManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.runtime.BoxedUnit;

/**
 * Closes the state stores of a JVM before it ends.
 *
 * <p>Spark leaves them open, and deletes their files at the end of the JVM. A compaction that still
 * runs then fails, and RocksDB reports it to its Java logger. A JVM that ends accepts no call from
 * native code any more, but waits for RocksDB's threads: it would never end.
 */
public final class ClosedStores {
  private static final Logger LOG = LoggerFactory.getLogger(ClosedStores.class);

  /** After the hook that stops Spark, and before the one that deletes its files. */
  private static final int PRIORITY = ShutdownHookManager.SPARK_CONTEXT_SHUTDOWN_PRIORITY() - 1;

  /** A store closes when its task has released it, and a task may be stuck. */
  private static final int PATIENCE_MS = 10_000;

  static {
    ShutdownHookManager.addShutdownHook(
        PRIORITY,
        () -> {
          close();
          return BoxedUnit.UNIT;
        });
  }

  private ClosedStores() {}

  /** Closes all state stores of this JVM when it ends. */
  public static void atExit() {
    // Loading the class has registered the hook, once per JVM.
  }

  private static void close() {
    Thread closing = new Thread(StateStore$.MODULE$::stop, "streamtable-close-stores");
    closing.setDaemon(true);
    closing.start();
    try {
      closing.join(PATIENCE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (closing.isAlive()) {
      LOG.warn("state stores are still in use {} ms after the end of their tasks", PATIENCE_MS);
    }
  }
}
