package io.streamtable.operators.join;

import io.streamtable.operators.row.NetRows;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Stores {@link NetRows} in a column of state: an array of (count, row). */
public record CountedRows(StructType row) implements Serializable {
  /** Returns the type of the column. */
  public ArrayType type() {
    return DataTypes.createArrayType(
        new StructType().add("count", DataTypes.LongType).add("row", row));
  }

  /** Returns the value of the column. */
  public Object stored(NetRows rows) {
    List<Row> entries = new ArrayList<>();
    rows.forEach((found, count) -> entries.add(RowFactory.create(count, found)));
    return entries.toArray(new Row[0]);
  }

  /** Adds the value of a column to rows. */
  public void load(Row stored, int column, NetRows rows) {
    for (Object entry : stored.getList(column)) {
      rows.add(((Row) entry).getStruct(1), ((Row) entry).getLong(0));
    }
  }
}
