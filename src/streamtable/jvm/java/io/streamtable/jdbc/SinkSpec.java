package io.streamtable.jdbc;

import java.io.Serializable;
import java.util.List;

/**
 * How rows are written to a table.
 *
 * @param rowDdl the columns, with their declared types
 * @param key the columns of the primary key; empty if rows are only inserted
 * @param maxRows rows of a flush; 0 for no limit
 * @param intervalMs longest time that a row waits for a flush; 0 for no limit
 * @param maxRetries how often a failed flush is repeated
 * @param epochs prefix of the ids under which tasks store their epochs; null for at-least-once
 */
public record SinkSpec(
    JdbcTable table,
    String rowDdl,
    List<String> key,
    int maxRows,
    long intervalMs,
    int maxRetries,
    String epochs)
    implements Serializable {

  /** Creates a spec whose list outlives the call. */
  public SinkSpec {
    key = new java.util.ArrayList<>(key);
  }
}
