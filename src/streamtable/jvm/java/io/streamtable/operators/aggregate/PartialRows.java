package io.streamtable.operators.aggregate;

import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.row.RowKind;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * The layout of a row of partial aggregates: row kind, keys, change of the number of rows, then the
 * columns of each aggregate.
 */
public final class PartialRows implements Serializable {
  private final int keys;
  private final int[] offsets;
  private final StructField[] columns;

  public PartialRows(int keys, List<Accumulator> accumulators) {
    this.keys = keys;
    this.offsets = new int[accumulators.size()];
    List<StructField> found = new ArrayList<>();
    for (int i = 0; i < offsets.length; i++) {
      offsets[i] = rowsAt() + 1 + found.size();
      found.addAll(accumulators.get(i).partialColumns("agg" + i));
    }
    this.columns = found.toArray(new StructField[0]);
  }

  /** Returns the position of the number of rows. */
  int rowsAt() {
    return 1 + keys;
  }

  /** Returns the position of the first column of an aggregate. */
  int at(int aggregate) {
    return offsets[aggregate];
  }

  /** Returns the number of columns. */
  int length() {
    return rowsAt() + 1 + columns.length;
  }

  /** Returns the schema, from the schema of the raw rows and the positions of the keys in them. */
  public StructType schema(StructType raw, int[] keyPositions) {
    StructType schema = new StructType().add(raw.fields()[RowKind.POSITION]);
    for (int position : keyPositions) {
      schema = schema.add(raw.fields()[position]);
    }
    schema = schema.add(DataTypes.createStructField("__rows", DataTypes.LongType, false));
    for (StructField column : columns) {
      // The underscores separate internal names from the user's names.
      schema = schema.add("__" + column.name(), column.dataType(), column.nullable());
    }
    return schema;
  }
}
