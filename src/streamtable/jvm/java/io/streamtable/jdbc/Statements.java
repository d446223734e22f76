package io.streamtable.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** The prepared statements of a sink on one connection. */
final class Statements {
  private static final byte DELETE = 3;

  private final StatementValues values;
  private final DataType[] types;
  private final int[] key;
  private final PreparedStatement write;
  private final PreparedStatement delete;

  Statements(Connection connection, SinkSpec spec) throws SQLException {
    JdbcTable table = spec.table();
    Dialect dialect = table.access().dialect();
    StructType schema = StructType.fromDDL(spec.rowDdl());
    JdbcTable.Found found = table.find(connection);
    List<String> columns = table.named(found, JdbcLookup.names(schema));
    List<String> names = table.named(found, spec.key());
    values = new StatementValues(dialect);
    types = new DataType[schema.size()];
    for (int i = 0; i < types.length; i++) {
      types[i] = schema.fields()[i].dataType();
    }
    key = positions(schema, spec.key());
    write =
        connection.prepareStatement(
            key.length == 0
                ? dialect.insert(found.table(), columns)
                : dialect.upsert(found.table(), columns, names));
    delete =
        key.length == 0 ? null : connection.prepareStatement(dialect.delete(found.table(), names));
  }

  /** Returns the positions of key columns in a row, whose first value is the row kind. */
  static int[] positions(StructType schema, List<String> key) {
    return key.stream().mapToInt(name -> schema.fieldIndex(name) + 1).toArray();
  }

  /** Writes rows with different keys. Deletes come first: they may free a unique value. */
  void execute(Collection<Row> rows) throws SQLException {
    List<Row> upserts = new ArrayList<>(rows.size());
    for (Row row : rows) {
      if (row.getByte(0) == DELETE) {
        addDelete(row);
      } else {
        upserts.add(row);
      }
    }
    if (upserts.size() < rows.size()) {
      delete.executeBatch();
    }
    for (Row row : upserts) {
      for (int i = 0; i < types.length; i++) {
        values.set(write, i + 1, row.get(i + 1), types[i]);
      }
      write.addBatch();
    }
    if (!upserts.isEmpty()) {
      write.executeBatch();
    }
  }

  private void addDelete(Row row) throws SQLException {
    for (int i = 0; i < key.length; i++) {
      values.set(delete, i + 1, row.get(key[i]), types[key[i] - 1]);
    }
    delete.addBatch();
  }

  void close() throws SQLException {
    write.close();
    if (delete != null) {
      delete.close();
    }
  }
}
