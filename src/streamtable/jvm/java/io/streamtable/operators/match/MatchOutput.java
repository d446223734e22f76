package io.streamtable.operators.match;

import io.streamtable.operators.row.RowKind;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * The row of a match: its row kind, the partition columns, the values, and the time in milliseconds
 * at which the match was found.
 *
 * @param partition positions of the partition columns in a row
 */
record MatchOutput(int[] partition, List<MatchValue> values) implements Serializable {
  Row row(PartialMatch match, long moment, MatchRows rows) {
    Object[] columns = new Object[partition.length + values.size() + 2];
    columns[0] = RowKind.INSERT;
    Row first = rows.get(match.start());
    for (int i = 0; i < partition.length; i++) {
      columns[i + 1] = first.get(partition[i]);
    }
    for (int i = 0; i < values.size(); i++) {
      columns[partition.length + 1 + i] = values.get(i).of(match, -1, rows);
    }
    columns[columns.length - 1] = moment;
    return RowFactory.create(columns);
  }
}
