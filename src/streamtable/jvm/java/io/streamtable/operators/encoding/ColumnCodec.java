package io.streamtable.operators.encoding;

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeWriter;

/**
 * Converts the values of one column, or the elements of an array, between the values of a Row and
 * Spark's binary rows. The bytes are those that Spark's own encoder writes, except for the order of
 * the entries of maps. An instance is not shared by threads.
 */
abstract class ColumnCodec {
  private final int size;

  /** @param size the number of bytes of an element in an array: 1, 2, 4 or 8 */
  ColumnCodec(int size) {
    this.size = size;
  }

  final int size() {
    return size;
  }

  /** Writes a value that is not null. */
  abstract void write(UnsafeWriter writer, int at, Object value);

  /** Returns a value that is not null. */
  abstract Object read(SpecializedGetters values, int at);

  void writeNull(UnsafeWriter writer, int at) {
    switch (size) {
      case 1 -> writer.setNull1Bytes(at);
      case 2 -> writer.setNull2Bytes(at);
      case 4 -> writer.setNull4Bytes(at);
      default -> writer.setNull8Bytes(at);
    }
  }

  final void writeAny(UnsafeWriter writer, int at, Object value) {
    if (value == null) {
      writeNull(writer, at);
    } else {
      write(writer, at, value);
    }
  }

  final Object readAny(SpecializedGetters values, int at) {
    return values.isNullAt(at) ? null : read(values, at);
  }
}
