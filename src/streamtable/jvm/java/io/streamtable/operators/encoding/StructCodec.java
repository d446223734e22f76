package io.streamtable.operators.encoding;

import java.util.stream.IntStream;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.GenericRowWithSchema;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeWriter;
import org.apache.spark.sql.types.StructType;

/** Converts a row, or a row within a row or an array. */
final class StructCodec extends ColumnCodec {
  private final StructType schema;
  private final ColumnCodec[] columns;
  private final boolean[] nullable;
  private final int[] inOrder;
  private UnsafeWriter outer;
  private UnsafeRowWriter inner;

  StructCodec(StructType schema, ColumnCodec[] columns) {
    super(8);
    this.schema = schema;
    this.columns = columns;
    this.inOrder = IntStream.range(0, columns.length).toArray();
    this.nullable = new boolean[columns.length];
    for (int i = 0; i < nullable.length; i++) {
      nullable[i] = schema.apply(i).nullable();
    }
  }

  /** Returns the number of columns. */
  int width() {
    return columns.length;
  }

  /** Writes the columns of a row. */
  void writeColumns(UnsafeRowWriter writer, Row row) {
    for (int i = 0; i < columns.length; i++) {
      writeColumn(writer, i, row.get(i));
    }
  }

  /** Writes one column of a row. */
  void writeColumn(UnsafeRowWriter writer, int at, Object value) {
    if (value == null && !nullable[at]) {
      throw new IllegalStateException("NULL in column " + schema.apply(at).name() + ", NOT NULL");
    }
    columns[at].writeAny(writer, at, value);
  }

  /** Returns a row of all columns. */
  Row readColumns(SpecializedGetters row) {
    return readColumns(row, inOrder);
  }

  /** Returns a row of columns at other positions of the given row. */
  Row readColumns(SpecializedGetters row, int[] positions) {
    Object[] values = new Object[columns.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = columns[i].readAny(row, positions[i]);
    }
    return new GenericRowWithSchema(values, schema);
  }

  @Override
  void write(UnsafeWriter writer, int at, Object value) {
    if (writer != outer) {
      outer = writer;
      inner = new UnsafeRowWriter(writer, columns.length);
    }
    int before = writer.cursor();
    inner.resetRowWriter();
    writeColumns(inner, (Row) value);
    writer.setOffsetAndSizeFromPreviousCursor(at, before);
  }

  @Override
  Object read(SpecializedGetters values, int at) {
    return readColumns(values.getStruct(at, columns.length));
  }
}
