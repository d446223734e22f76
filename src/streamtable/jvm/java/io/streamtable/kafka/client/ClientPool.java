package io.streamtable.kafka.client;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A pool of clients that calls and tasks of this JVM share, one client for each set of properties.
 * A connection per call would cost more than most calls. The pool closes idle clients.
 *
 * @param <C> a client that several threads may use at once
 */
public final class ClientPool<C> {
  private static final long CHECK_MS = TimeUnit.SECONDS.toMillis(15);

  private final Function<Map<String, Object>, C> connect;
  private final Consumer<C> close;
  private final long idleNanos;
  private final Map<Map<String, Object>, PooledClient> shared = new HashMap<>();

  public ClientPool(Function<Map<String, Object>, C> connect, Consumer<C> close, long idleMs) {
    this.connect = connect;
    this.close = close;
    this.idleNanos = TimeUnit.MILLISECONDS.toNanos(idleMs);
    BackgroundTasks.every(CHECK_MS, this::closeIdle);
  }

  /** A client in use. */
  public final class PooledClient {
    private final Map<String, Object> properties;
    private C client;
    private int users;
    private long idleSince;

    private PooledClient(Map<String, Object> properties) {
      this.properties = properties;
    }

    /**
     * Returns the client. The first call connects; other threads that need this client wait for it.
     */
    public synchronized C client() {
      if (client == null) {
        client = connect.apply(properties);
      }
      return client;
    }

    private synchronized void end() {
      if (client != null) {
        close.accept(client);
      }
    }
  }

  /**
   * Borrows a client with these properties. If a client waits for a login while it is created, it
   * delays only threads that need the same client.
   */
  public PooledClient borrow(Map<String, ?> properties) {
    PooledClient pooled;
    synchronized (shared) {
      pooled = shared.computeIfAbsent(new HashMap<>(properties), PooledClient::new);
      pooled.users++;
    }
    try {
      pooled.client();
    } catch (RuntimeException e) {
      release(pooled, true);
      throw e;
    }
    return pooled;
  }

  /**
   * Releases a borrowed client. A client that failed is not used again, because some failures are
   * permanent.
   */
  public void release(PooledClient pooled, boolean failed) {
    boolean over;
    synchronized (shared) {
      pooled.users--;
      pooled.idleSince = System.nanoTime();
      if (failed) {
        shared.remove(pooled.properties, pooled);
      }
      over = pooled.users == 0 && shared.get(pooled.properties) != pooled;
    }
    if (over) {
      pooled.end();
    }
  }

  private void closeIdle() {
    long now = System.nanoTime();
    List<PooledClient> idle = new ArrayList<>();
    synchronized (shared) {
      shared.values().stream()
          .filter(pooled -> pooled.users == 0 && now - pooled.idleSince > idleNanos)
          .forEach(idle::add);
      shared.values().removeAll(idle);
    }
    idle.forEach(PooledClient::end);
  }
}
