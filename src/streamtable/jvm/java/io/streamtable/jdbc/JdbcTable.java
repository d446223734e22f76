package io.streamtable.jdbc;

import java.io.Serializable;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A table of a database, and the names that it has there.
 *
 * <p>A database may write names in other letters than a script does: PostgreSQL turns names without
 * quotes into small letters. A name that exists as written is taken as written, else the only name
 * that differs in letters.
 *
 * @param name as the script writes it, with its schema if it has one
 */
public record JdbcTable(JdbcAccess access, String name) implements Serializable {

  /** The table's name in SQL, and the names of all its columns. */
  record Found(String table, List<String> columns) {}

  /** Reads the names of the table and its columns. */
  Found find(Connection connection) throws SQLException {
    String table = access.dialect().table(name);
    try {
      return new Found(table, columns(connection, table));
    } catch (SQLException e) {
      String small = access.dialect().table(name.toLowerCase(Locale.ROOT));
      if (small.equals(table)) {
        throw e;
      }
      try {
        return new Found(small, columns(connection, small));
      } catch (SQLException other) {
        throw e;
      }
    }
  }

  /** Returns the names of columns as the table has them. Throws a JdbcFault for a missing one. */
  List<String> named(Found found, List<String> wanted) {
    List<String> names = new ArrayList<>();
    for (String name : wanted) {
      names.add(named(found, name));
    }
    return names;
  }

  private String named(Found found, String wanted) {
    if (found.columns().contains(wanted)) {
      return wanted;
    }
    List<String> similar =
        found.columns().stream().filter(column -> column.equalsIgnoreCase(wanted)).toList();
    if (similar.size() == 1) {
      return similar.get(0);
    }
    String known = String.join(", ", found.columns());
    throw JdbcFault.misfit(
        access, "table '" + name + "' has no column '" + wanted + "', but (" + known + ")");
  }

  private static List<String> columns(Connection connection, String table) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT * FROM " + table + " WHERE 1 = 0")) {
      ResultSetMetaData columns = rows.getMetaData();
      List<String> names = new ArrayList<>();
      for (int i = 1; i <= columns.getColumnCount(); i++) {
        names.add(columns.getColumnName(i));
      }
      return names;
    }
  }
}
