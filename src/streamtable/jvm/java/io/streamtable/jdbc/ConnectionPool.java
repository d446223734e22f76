package io.streamtable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The connections of this process between the batches of queries. A task has a connection of its
 * own. A connection that no task has used for a minute is closed.
 */
final class ConnectionPool {
  private static final long IDLE_MS = 60_000;
  private static final long SWEEP_S = 20;

  private static final Map<JdbcAccess, Deque<Idle>> IDLE = new HashMap<>();
  private static final ScheduledExecutorService SWEEPER =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "jdbc-idle-connections");
            thread.setDaemon(true);
            return thread;
          });

  static {
    SWEEPER.scheduleWithFixedDelay(ConnectionPool::sweep, SWEEP_S, SWEEP_S, TimeUnit.SECONDS);
  }

  private ConnectionPool() {}

  /** Returns a connection in auto-commit mode that answers. */
  static Connection borrow(JdbcAccess access) throws SQLException {
    while (true) {
      Connection idle = newest(access);
      if (idle == null) {
        return access.open();
      }
      if (answers(idle, access)) {
        return idle;
      }
      close(idle);
    }
  }

  /** Takes back a connection without an open transaction. */
  static void giveBack(JdbcAccess access, Connection connection) {
    synchronized (IDLE) {
      IDLE.computeIfAbsent(access, a -> new ArrayDeque<>())
          .addLast(new Idle(connection, System.currentTimeMillis()));
    }
  }

  /** Closes a connection that may be broken. */
  static void close(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      // The server has closed it already.
    }
  }

  private static Connection newest(JdbcAccess access) {
    synchronized (IDLE) {
      Deque<Idle> idle = IDLE.get(access);
      return idle == null || idle.isEmpty() ? null : idle.removeLast().connection();
    }
  }

  private static boolean answers(Connection connection, JdbcAccess access) {
    try {
      return connection.isValid(access.timeoutS());
    } catch (SQLException e) {
      return false;
    }
  }

  private static void sweep() {
    long before = System.currentTimeMillis() - IDLE_MS;
    List<Connection> old = new ArrayList<>();
    synchronized (IDLE) {
      for (Deque<Idle> idle : IDLE.values()) {
        for (Iterator<Idle> all = idle.iterator(); all.hasNext(); ) {
          Idle next = all.next();
          if (next.since() < before) {
            old.add(next.connection());
            all.remove();
          }
        }
      }
      IDLE.values().removeIf(Deque::isEmpty);
    }
    old.forEach(ConnectionPool::close);
  }

  private record Idle(Connection connection, long since) {}
}
