package io.streamtable.codec.changeevents;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.json.JsonRowReader;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/** Collects the changes of one record. Every row ends with the record's metadata. */
public final class ChangeRows {
  public static final byte INSERT = 0;
  public static final byte UPDATE_BEFORE = 1;
  static final byte UPDATE_AFTER = 2;
  public static final byte DELETE = 3;

  private final Object[] metadata;
  private final List<GenericInternalRow> rows = new ArrayList<>(2);

  ChangeRows(Object[] metadata) {
    this.metadata = metadata;
  }

  List<GenericInternalRow> rows() {
    return rows;
  }

  /**
   * Adds a change.
   *
   * @param name the field of the row, for the message if the row is missing
   */
  void add(byte kind, Object row, String name) throws DecodeException {
    if (row == null) {
      throw new DecodeException("'" + name + "' holds no row");
    }
    Object[] columns = ((GenericInternalRow) row).values();
    Object[] values = new Object[1 + columns.length + metadata.length];
    values[0] = kind;
    System.arraycopy(columns, 0, values, 1, columns.length);
    System.arraycopy(metadata, 0, values, 1 + columns.length, metadata.length);
    rows.add(new GenericInternalRow(values));
  }

  /** Adds an update whose old row contains only the changed fields. */
  void addUpdate(Object changed, Object row, String oldName, String name) throws DecodeException {
    if (row == null || changed == null) {
      throw new DecodeException("'" + (row == null ? name : oldName) + "' holds no row");
    }
    Object[] before = ((GenericInternalRow) changed).values();
    Object[] after = ((GenericInternalRow) row).values();
    for (int i = 0; i < before.length; i++) {
      if (before[i] == JsonRowReader.MISSING) {
        before[i] = after[i];
      }
    }
    add(UPDATE_BEFORE, changed, oldName);
    add(UPDATE_AFTER, row, name);
  }
}
