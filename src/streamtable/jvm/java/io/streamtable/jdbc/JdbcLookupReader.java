package io.streamtable.jdbc;

import io.streamtable.lookup.LookupReader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.CatalystTypeConverters;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Function1;

/** The lookups of one task, over one connection. A lost connection is opened again. */
final class JdbcLookupReader implements LookupReader {
  private final JdbcTable table;
  private final StructType key;
  private final StructType row;
  private final int maxRetries;
  private final ResultColumns columns;
  private final StatementValues values;
  private final List<Function1<Object, Object>> keyValues = new ArrayList<>();
  private Connection connection;
  private PreparedStatement statement;

  JdbcLookupReader(JdbcTable table, StructType key, StructType row, int maxRetries) {
    this.table = table;
    this.key = key;
    this.row = row;
    this.maxRetries = maxRetries;
    columns = new ResultColumns(table.access().dialect(), row);
    values = new StatementValues(table.access().dialect());
    for (StructField field : key.fields()) {
      keyValues.add(CatalystTypeConverters.createToScalaConverter(field.dataType()));
    }
  }

  @Override
  public List<InternalRow> find(InternalRow wanted) {
    for (int attempt = 0; ; attempt++) {
      try {
        return found(wanted);
      } catch (SQLException e) {
        disconnect();
        if (attempt >= maxRetries || !JdbcFault.isTransient(e)) {
          throw JdbcFault.of(e, table.access(), "a lookup in table '" + table.name() + "'");
        }
        Retries.pause(attempt);
      }
    }
  }

  private List<InternalRow> found(InternalRow wanted) throws SQLException {
    if (statement == null) {
      connect();
    }
    for (int i = 0; i < key.size(); i++) {
      Object value = wanted.get(i, key.fields()[i].dataType());
      values.set(statement, i + 1, keyValues.get(i).apply(value), key.fields()[i].dataType());
    }
    List<InternalRow> rows = new ArrayList<>();
    try (ResultSet found = statement.executeQuery()) {
      while (found.next()) {
        rows.add(columns.row(found));
      }
    }
    return rows;
  }

  private void connect() throws SQLException {
    connection = ConnectionPool.borrow(table.access());
    JdbcTable.Found names = table.find(connection);
    Dialect dialect = table.access().dialect();
    String where = dialect.equal(table.named(names, JdbcLookup.names(key)));
    List<String> read = table.named(names, JdbcLookup.names(row));
    statement = connection.prepareStatement(dialect.select(names.table(), read, where));
  }

  private void disconnect() {
    if (connection != null) {
      ConnectionPool.close(connection);
    }
    connection = null;
    statement = null;
  }

  @Override
  public void close() {
    if (statement == null) {
      disconnect();
      return;
    }
    try {
      statement.close();
      ConnectionPool.giveBack(table.access(), connection);
      connection = null;
      statement = null;
    } catch (SQLException e) {
      disconnect();
    }
  }
}
