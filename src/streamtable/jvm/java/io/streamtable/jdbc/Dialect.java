package io.streamtable.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The SQL of a database. Identifiers are quoted. */
public enum Dialect {
  POSTGRESQL('"', "SELECT epoch, tasks FROM %s WHERE id = ? FOR UPDATE"),
  MYSQL('`', "SELECT epoch, tasks FROM %s WHERE id = ? FOR UPDATE"),
  // A transaction of SQLite that writes locks the whole database.
  SQLITE('"', "SELECT epoch, tasks FROM %s WHERE id = ?");

  private final char quote;
  private final String lockEpoch;

  Dialect(char quote, String lockEpoch) {
    this.quote = quote;
    this.lockEpoch = lockEpoch;
  }

  String quoted(String name) {
    String mark = String.valueOf(quote);
    return mark + name.replace(mark, mark + mark) + mark;
  }

  /** Quotes a table's name, which a point may divide into schema and table. */
  String table(String name) {
    return List.of(name.split("\\.")).stream().map(this::quoted).collect(Collectors.joining("."));
  }

  String select(String table, List<String> columns, String where) {
    String read = columns.isEmpty() ? "1" : list(columns, this::quoted);
    return "SELECT " + read + " FROM " + table + (where.isEmpty() ? "" : " WHERE " + where);
  }

  /** A condition with a parameter for each column. */
  String equal(List<String> columns) {
    return columns.stream().map(c -> quoted(c) + " = ?").collect(Collectors.joining(" AND "));
  }

  String insert(String table, List<String> columns) {
    String values = list(columns, column -> "?");
    return "INSERT INTO " + table + " (" + list(columns, this::quoted) + ") VALUES (" + values + ")";
  }

  String delete(String table, List<String> key) {
    return "DELETE FROM " + table + " WHERE " + equal(key);
  }

  /** An insert that replaces the other columns of an existing row with the same key. */
  String upsert(String table, List<String> columns, List<String> key) {
    List<String> others = new ArrayList<>(columns);
    others.removeAll(key);
    String insert = insert(table, columns);
    if (this == MYSQL) {
      // Without other columns, an assignment that changes nothing keeps the row.
      List<String> set = others.isEmpty() ? key : others;
      return insert
          + " ON DUPLICATE KEY UPDATE "
          + list(set, c -> quoted(c) + " = VALUES(" + quoted(c) + ")");
    }
    String conflict = insert + " ON CONFLICT (" + list(key, this::quoted) + ") DO ";
    return others.isEmpty()
        ? conflict + "NOTHING"
        : conflict + "UPDATE SET " + list(others, c -> quoted(c) + " = EXCLUDED." + quoted(c));
  }

  /** Reads an epoch and locks its row until the end of the transaction. */
  String lockEpoch() {
    return String.format(lockEpoch, quoted(Epochs.TABLE));
  }

  /** Inserts the row of an epoch unless it exists. */
  String addEpoch() {
    String insert = insert(quoted(Epochs.TABLE), List.of("id", "epoch", "tasks"));
    return this == MYSQL
        ? insert.replaceFirst("INSERT", "INSERT IGNORE")
        : insert + " ON CONFLICT DO NOTHING";
  }

  private static String list(List<String> names, Function<String, String> text) {
    return names.stream().map(text).collect(Collectors.joining(", "));
  }
}
