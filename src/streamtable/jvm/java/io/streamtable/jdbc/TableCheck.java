package io.streamtable.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** Checks of a table before a job starts. */
public final class TableCheck {
  private TableCheck() {}

  /** Checks that the database has the table with these columns. Throws a JdbcFault otherwise. */
  public static void columns(JdbcTable table, List<String> columns) {
    try (Connection connection = table.access().open()) {
      table.named(table.find(connection), columns);
    } catch (SQLException e) {
      throw JdbcFault.of(e, table.access(), "table '" + table.name() + "'");
    }
  }

  /**
   * Checks that exactly these columns are unique in the table. Without that, an upsert fails in some
   * databases and inserts a second row in others.
   */
  public static void uniqueKey(JdbcTable table, List<String> key) {
    try (Connection connection = table.access().open()) {
      JdbcTable.Found found = table.find(connection);
      TreeSet<String> wanted = new TreeSet<>(table.named(found, key));
      Collection<TreeSet<String>> unique = unique(connection, found);
      if (unique.stream().noneMatch(wanted::equals)) {
        throw JdbcFault.misfit(
            table.access(),
            "table '" + table.name() + "' has no primary key or unique index of exactly ("
                + String.join(", ", key) + "), which an upsert needs");
      }
    } catch (SQLException e) {
      throw JdbcFault.of(e, table.access(), "table '" + table.name() + "'");
    }
  }

  /** Returns the columns of the primary key and of each unique index. */
  private static Collection<TreeSet<String>> unique(Connection connection, JdbcTable.Found found)
      throws SQLException {
    String[] parts = found.table().replaceAll("[\"`]", "").split("\\.");
    String table = parts[parts.length - 1];
    String schema = parts.length > 1 ? parts[parts.length - 2] : null;
    String product = connection.getMetaData().getDatabaseProductName().toLowerCase(Locale.ROOT);
    boolean schemas = product.contains("postgres");
    String catalog = schemas || schema == null ? connection.getCatalog() : schema;
    String in = schemas ? (schema == null ? connection.getSchema() : schema) : null;
    DatabaseMetaData data = connection.getMetaData();
    Map<String, TreeSet<String>> byIndex = new TreeMap<>();
    try (ResultSet rows = data.getPrimaryKeys(catalog, in, table)) {
      while (rows.next()) {
        byIndex.computeIfAbsent(" key", k -> new TreeSet<>()).add(rows.getString("COLUMN_NAME"));
      }
    }
    try (ResultSet rows = data.getIndexInfo(catalog, in, table, true, true)) {
      while (rows.next()) {
        String column = rows.getString("COLUMN_NAME");
        if (column != null && rows.getString("INDEX_NAME") != null) {
          byIndex
              .computeIfAbsent(rows.getString("INDEX_NAME"), k -> new TreeSet<>())
              .add(column.replaceAll("^\"|\"$", ""));
        }
      }
    }
    return new ArrayList<>(byIndex.values());
  }

  /**
   * Checks that the table takes part in transactions, and creates the table of epochs unless it
   * exists.
   */
  public static void createEpochs(JdbcTable table) {
    JdbcAccess access = table.access();
    try (Connection connection = access.open();
        Statement statement = connection.createStatement()) {
      if (access.dialect() == Dialect.MYSQL) {
        checkEngine(connection, table);
      }
      statement.execute(Epochs.create(access.dialect()));
    } catch (SQLException e) {
      throw JdbcFault.of(e, access, "creating table '" + Epochs.TABLE + "'");
    }
  }

  private static void checkEngine(Connection connection, JdbcTable table) throws SQLException {
    String[] parts = table.name().split("\\.");
    String schema = parts.length > 1 ? parts[0] : connection.getCatalog();
    String sql =
        "SELECT engine FROM information_schema.tables WHERE table_schema = ? AND table_name = ?";
    try (PreparedStatement engine = connection.prepareStatement(sql)) {
      engine.setString(1, schema);
      engine.setString(2, parts[parts.length - 1]);
      try (ResultSet found = engine.executeQuery()) {
        if (found.next() && !"InnoDB".equalsIgnoreCase(found.getString(1))) {
          throw JdbcFault.misfit(
              table.access(),
              "table '" + table.name() + "' has the engine " + found.getString(1)
                  + ", which has no transactions; exactly-once needs InnoDB");
        }
      }
    }
  }
}
