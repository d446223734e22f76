package io.streamtable.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;

/** Reads the rows of one task of a scan. */
final class ScanReader implements PartitionReader<InternalRow> {
  private final ScanSpec scan;
  private final ScanStream.Part part;
  private final ResultColumns columns;
  private Connection connection;
  private ResultSet rows;

  ScanReader(ScanSpec scan, ScanStream.Part part) {
    this.scan = scan;
    this.part = part;
    columns = new ResultColumns(scan.table().access().dialect(), scan.schema());
  }

  @Override
  public boolean next() {
    try {
      if (rows == null) {
        rows = opened();
      }
      return rows.next();
    } catch (SQLException e) {
      throw fault(e);
    }
  }

  @Override
  public InternalRow get() {
    try {
      return columns.row(rows);
    } catch (SQLException e) {
      throw fault(e);
    }
  }

  private ResultSet opened() throws SQLException {
    JdbcTable table = scan.table();
    Dialect dialect = table.access().dialect();
    connection = table.access().open();
    JdbcTable.Found names = table.find(connection);
    List<String> read = table.named(names, JdbcLookup.names(scan.schema()));
    String where = "";
    if (part.range() != null) {
      List<String> column = table.named(names, List.of(scan.partitionColumn()));
      where = dialect.quoted(column.get(0)) + " BETWEEN ? AND ?";
    }
    connection.setAutoCommit(scan.autoCommit());
    PreparedStatement statement =
        connection.prepareStatement(dialect.select(names.table(), read, where));
    if (scan.fetchSize() != 0) {
      statement.setFetchSize(scan.fetchSize());
    }
    if (part.range() != null) {
      statement.setLong(1, part.range()[0]);
      statement.setLong(2, part.range()[1]);
    }
    return statement.executeQuery();
  }

  private JdbcFault fault(SQLException error) {
    return JdbcFault.of(
        error, scan.table().access(), "the scan of table '" + scan.table().name() + "'");
  }

  @Override
  public void close() {
    if (connection != null) {
      ConnectionPool.close(connection);
    }
  }
}
