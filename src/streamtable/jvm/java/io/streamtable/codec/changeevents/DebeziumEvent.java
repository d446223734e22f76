package io.streamtable.codec.changeevents;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Schemas;
import io.streamtable.codec.Texts;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** An event of Debezium: the row before, the row after, and the operation. */
final class DebeziumEvent {
  private static final UTF8String CREATE = UTF8String.fromString("c");
  private static final UTF8String DELETE = UTF8String.fromString("d");

  private DebeziumEvent() {}

  /** Returns the type of an event, as DDL, from that of its rows. */
  static String ddl(String rowDdl) {
    StructType row = Schemas.of(rowDdl);
    return new StructType()
        .add("before", row)
        .add("after", row)
        .add("op", DataTypes.StringType)
        .toDDL();
  }

  /** Returns an event that inserts or deletes a row. */
  static GenericInternalRow of(boolean inserts, Object row) {
    return new GenericInternalRow(
        inserts ? new Object[] {null, row, CREATE} : new Object[] {row, null, DELETE});
  }

  /** Returns the changes of an event. */
  static List<GenericInternalRow> changes(
      Object before, Object after, String op, Object[] metadata) throws DecodeException {
    ChangeRows changes = new ChangeRows(metadata);
    switch (op) {
      case "c", "r" -> changes.add(ChangeRows.INSERT, after, "after");
      case "u" -> {
        changes.add(ChangeRows.UPDATE_BEFORE, existing(before, op), "before");
        changes.add(ChangeRows.UPDATE_AFTER, after, "after");
      }
      case "d" -> changes.add(ChangeRows.DELETE, existing(before, op), "before");
      default -> throw new DecodeException("'op' is '" + Texts.shorten(op) + "', not c, r, u or d");
    }
    return changes.rows();
  }

  private static Object existing(Object row, String op) throws DecodeException {
    if (row == null) {
      throw new DecodeException(
          "'before' is null in an event of 'op' '"
              + op
              + "'; a table of Postgres needs REPLICA IDENTITY FULL");
    }
    return row;
  }
}
