package io.streamtable.jdbc;

import io.streamtable.checkpoint.Lease;
import io.streamtable.metrics.Counters;
import io.streamtable.source.TaskSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Writes rows of (row kind, columns...) to a table.
 *
 * <p>Rows wait in a buffer and are flushed by number, by time and at the end of the epoch. At least
 * once, each flush is a transaction. Exactly once, all flushes of a task's epoch are one
 * transaction, which also stores the epoch ({@link Epochs}).
 */
public final class JdbcWriter extends ForeachWriter<Row> {
  private static final String RECORDS_OUT = "recordsOut";

  private final SinkSpec spec;
  private final Counters counters;
  private final String checkpoint;

  private transient Lease lease;
  private transient RowBuffer buffer;
  private transient Connection connection;
  private transient Statements statements;
  private transient Epochs epochs;
  private transient TaskContext context;
  private transient ScheduledExecutorService timer;
  private transient RuntimeException failure;
  private transient long task;
  private transient long epoch;
  private transient long oldestMs;
  private transient long written;
  private transient boolean there;

  /**
   * Creates a writer.
   *
   * @param checkpoint folder of the query's checkpoint: a job that has lost it writes no more rows
   */
  public JdbcWriter(SinkSpec spec, String checkpoint, Counters counters) {
    this.spec = spec;
    this.checkpoint = checkpoint;
    this.counters = counters;
  }

  @Override
  public boolean open(long partitionId, long epochId) {
    context = TaskContext.get(); // the timer's thread has no TaskContext
    lease = Lease.of(new Path(checkpoint));
    task = partitionId;
    epoch = epochId;
    written = 0;
    there = false;
    failure = null;
    timer = null;
    StructType schema = StructType.fromDDL(spec.rowDdl());
    buffer = new RowBuffer(Statements.positions(schema, spec.key()));
    return true;
  }

  @Override
  public synchronized void process(Row row) {
    check();
    if (timer == null && spec.intervalMs() > 0) {
      timer = Executors.newSingleThreadScheduledExecutor(JdbcWriter::daemon);
      timer.scheduleWithFixedDelay(
          this::flushInTime, spec.intervalMs(), spec.intervalMs(), TimeUnit.MILLISECONDS);
    }
    if (buffer.size() == 0) {
      oldestMs = System.currentTimeMillis();
    }
    buffer.add(row);
    written++;
    if (spec.maxRows() > 0 && buffer.size() >= spec.maxRows()) {
      flush();
    }
  }

  /** Called after {@code open} regardless of its result, and after a failure, with the error. */
  @Override
  public void close(Throwable error) {
    if (timer != null) {
      timer.shutdown(); // a running flush ends first
    }
    synchronized (this) {
      try {
        if (error == null) {
          check();
          flush();
          commitEpoch();
          counters.add(RECORDS_OUT, there ? 0 : written);
          release();
        }
      } finally {
        disconnect();
      }
    }
  }

  private synchronized void flushInTime() {
    try {
      long waited = System.currentTimeMillis() - oldestMs;
      if (failure == null && buffer.size() > 0 && waited >= spec.intervalMs()) {
        flush();
      }
    } catch (RuntimeException e) {
      failure = e;
    }
  }

  private void check() {
    if (failure != null) {
      throw failure;
    }
  }

  private void flush() {
    if (lease != null) {
      lease.check();
    }
    for (int attempt = 0; buffer.size() > 0; attempt++) {
      // A transaction of several flushes is lost with its connection.
      boolean repeatable = epochs == null;
      try {
        connect();
        write();
        buffer.clear();
      } catch (SQLException e) {
        disconnect();
        if (!repeatable || attempt >= spec.maxRetries() || !JdbcFault.isTransient(e)) {
          throw fault(e);
        }
        Retries.pause(attempt);
      }
    }
  }

  private void write() throws SQLException {
    if (epochs != null) {
      if (!there) {
        statements.execute(buffer.rows());
      }
      return;
    }
    connection.setAutoCommit(false);
    statements.execute(buffer.rows());
    connection.commit();
    // SQLite begins the next transaction at once, which would lock out other tasks.
    connection.setAutoCommit(true);
  }

  private void connect() throws SQLException {
    if (connection != null) {
      return;
    }
    connection = ConnectionPool.borrow(spec.table().access());
    statements = new Statements(connection, spec);
    if (spec.epochs() == null) {
      return;
    }
    // The split that the task reads is known with its first row.
    String source = TaskSource.of(context);
    String id = spec.epochs() + "-" + (source == null ? String.valueOf(task) : source);
    epochs = new Epochs(connection, spec.table().access().dialect(), id);
    there = !epochs.begin(epoch, tasks());
  }

  private void commitEpoch() {
    if (epochs == null) {
      return;
    }
    try {
      if (!there) {
        epochs.end(epoch, tasks());
      }
      connection.commit();
    } catch (SQLException e) {
      throw fault(e);
    }
  }

  private int tasks() {
    return context == null ? 1 : context.numPartitions();
  }

  /** Keeps the connection for the next epoch. */
  private void release() {
    if (connection == null) {
      return;
    }
    try {
      statements.close();
      connection.setAutoCommit(true);
      ConnectionPool.giveBack(spec.table().access(), connection);
      connection = null;
    } catch (SQLException e) {
      disconnect();
    }
  }

  /** Closes the connection; the database rolls back what is not committed. */
  private void disconnect() {
    if (connection != null) {
      ConnectionPool.close(connection);
    }
    connection = null;
    statements = null;
    epochs = null;
  }

  private JdbcFault fault(SQLException error) {
    return JdbcFault.of(
        error, spec.table().access(), "a write to table '" + spec.table().name() + "'");
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "jdbc-flush");
    thread.setDaemon(true);
    return thread;
  }
}
