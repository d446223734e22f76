package io.streamtable.operators;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Where what in a row of partials stands: row kind, keys, by how many rows the group grew, then the
 * columns of each aggregate.
 */
final class PartialRows implements Serializable {
  private final int keys;
  private final int[] offsets;
  private final StructField[] columns;

  PartialRows(int keys, List<Accumulator> accumulators) {
    this.keys = keys;
    this.offsets = new int[accumulators.size()];
    List<StructField> found = new ArrayList<>();
    for (int i = 0; i < offsets.length; i++) {
      offsets[i] = rowsAt() + 1 + found.size();
      found.addAll(accumulators.get(i).partialColumns("agg" + i));
    }
    this.columns = found.toArray(new StructField[0]);
  }

  /** Position of the number of rows. */
  int rowsAt() {
    return 1 + keys;
  }

  /** Position of the first column of an aggregate. */
  int at(int aggregate) {
    return offsets[aggregate];
  }

  /** The number of columns. */
  int length() {
    return rowsAt() + 1 + columns.length;
  }

  /** The schema, given that of the raw rows and where the keys stand in them. */
  StructType schema(StructType raw, int[] keyPositions) {
    StructType schema = new StructType().add(raw.fields()[RowKind.POSITION]);
    for (int position : keyPositions) {
      schema = schema.add(raw.fields()[position]);
    }
    schema = schema.add(DataTypes.createStructField("__rows", DataTypes.LongType, false));
    for (StructField column : columns) {
      // Names of ours beside the user's: the underscores keep them apart.
      schema = schema.add("__" + column.name(), column.dataType(), column.nullable());
    }
    return schema;
  }
}
