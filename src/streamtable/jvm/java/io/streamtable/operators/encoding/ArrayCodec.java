package io.streamtable.operators.encoding;

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeArrayWriter;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeWriter;
import org.apache.spark.sql.catalyst.util.ArrayData;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.collection.mutable.ArraySeq;

/** Converts an array: a Scala Seq or a Java array in rows. */
final class ArrayCodec extends ColumnCodec {
  private final ColumnCodec element;
  private UnsafeWriter outer;
  private UnsafeArrayWriter inner;

  ArrayCodec(ColumnCodec element) {
    super(8);
    this.element = element;
  }

  @Override
  void write(UnsafeWriter writer, int at, Object value) {
    Seq<?> elements = value instanceof Object[] array ? ArraySeq.make(array) : (Seq<?>) value;
    int before = writer.cursor();
    writeElements(writer, elements.length(), elements.iterator());
    writer.setOffsetAndSizeFromPreviousCursor(at, before);
  }

  /** Writes elements at the cursor. */
  void writeElements(UnsafeWriter writer, int length, Iterator<?> elements) {
    if (writer != outer) {
      outer = writer;
      inner = new UnsafeArrayWriter(writer, element.size());
    }
    inner.initialize(length);
    for (int i = 0; elements.hasNext(); i++) {
      element.writeAny(inner, i, elements.next());
    }
  }

  @Override
  Object read(SpecializedGetters values, int at) {
    return ArraySeq.make(readElements(values.getArray(at)));
  }

  Object[] readElements(ArrayData array) {
    Object[] elements = new Object[array.numElements()];
    for (int i = 0; i < elements.length; i++) {
      elements[i] = element.readAny(array, i);
    }
    return elements;
  }
}
