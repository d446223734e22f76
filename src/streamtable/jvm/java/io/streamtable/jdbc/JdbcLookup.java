package io.streamtable.jdbc;

import io.streamtable.lookup.LookupReader;
import io.streamtable.lookup.LookupTable;
import java.util.List;
import org.apache.spark.sql.types.StructType;

/**
 * Looks up rows of a table by columns.
 *
 * @param keyDdl the columns of the key, with their declared types
 * @param rowDdl the columns of a row, with their declared types
 * @param maxRetries how often a failed lookup is repeated
 */
public record JdbcLookup(JdbcTable table, String keyDdl, String rowDdl, int maxRetries)
    implements LookupTable {

  @Override
  public LookupReader open() {
    return new JdbcLookupReader(
        table, StructType.fromDDL(keyDdl), StructType.fromDDL(rowDdl), maxRetries);
  }

  /** Returns the names of columns. */
  static List<String> names(StructType columns) {
    return List.of(columns.fieldNames());
  }
}
