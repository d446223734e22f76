package io.streamtable.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The number of the last batch that a task has written, in a table of the target's database.
 *
 * <p>A task commits the number together with its rows. A task that runs again finds its number and
 * writes nothing.
 */
final class Epochs {
  /** The name of the table. */
  static final String TABLE = "streamtable_epochs";

  private final Connection connection;
  private final Dialect dialect;
  private final String id;

  Epochs(Connection connection, Dialect dialect, String id) {
    this.connection = connection;
    this.dialect = dialect;
    this.id = id;
  }

  /** The statement that creates the table. */
  static String create(Dialect dialect) {
    return "CREATE TABLE IF NOT EXISTS "
        + dialect.quoted(TABLE)
        + " (id VARCHAR(500) NOT NULL PRIMARY KEY, epoch BIGINT NOT NULL, tasks INT NOT NULL)";
  }

  /**
   * Locks the task's number until the end of the transaction, which begins here.
   *
   * @return whether the rows of the epoch are still to be written
   */
  boolean begin(long epoch, int tasks) throws SQLException {
    try (PreparedStatement add = connection.prepareStatement(dialect.addEpoch())) {
      add.setString(1, id);
      add.setLong(2, -1);
      add.setInt(3, tasks);
      add.executeUpdate();
    }
    connection.setAutoCommit(false);
    try (PreparedStatement lock = connection.prepareStatement(dialect.lockEpoch())) {
      lock.setString(1, id);
      try (ResultSet found = lock.executeQuery()) {
        found.next();
        long last = found.getLong(1);
        if (last == epoch && found.getInt(2) != tasks) {
          throw new SQLException(
              "epoch " + epoch + " was written by " + found.getInt(2) + " tasks and would now be"
                  + " written by " + tasks + "; run the job with its former parallelism",
              "42000");
        }
        return last < epoch;
      }
    }
  }

  /** Stores the number of the epoch in the transaction. */
  void end(long epoch, int tasks) throws SQLException {
    String sql = "UPDATE " + dialect.quoted(TABLE) + " SET epoch = ?, tasks = ? WHERE id = ?";
    try (PreparedStatement update = connection.prepareStatement(sql)) {
      update.setLong(1, epoch);
      update.setInt(2, tasks);
      update.setString(3, id);
      update.executeUpdate();
    }
  }
}
