package io.streamtable.operators.fanout;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** The union of queries without state, which computes queries over the same rows in one pass. */
public final class OnePass {
  private OnePass() {}

  /** Returns the rows of all queries, which have equal types of columns. */
  public static Dataset<Row> union(List<Dataset<Row>> queries) {
    List<Recording> recordings = new ArrayList<>();
    for (Dataset<Row> query : queries) {
      Recording recording = Recording.of(query);
      if (recording == null) {
        return queries.stream().reduce(Dataset::union).orElseThrow();
      }
      recordings.add(recording);
    }
    List<QueryRows> rows = new ArrayList<>();
    for (int i = 0; i < queries.size(); i++) {
      rows.add(QueryRows.last(recordings.get(i).steps(queries.get(i)), i));
    }
    StructType output = new StructType();
    for (StructField field : queries.get(0).schema().fields()) {
      output = output.add(field.name(), field.dataType(), true);
    }
    output = output.add(FanOut.PLACE, DataTypes.IntegerType, false);
    return PerRow.ofAll(recordings.get(0).input(), rows, output).drop(FanOut.PLACE);
  }
}
