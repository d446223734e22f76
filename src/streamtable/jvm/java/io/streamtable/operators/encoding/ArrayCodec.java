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
    if (writer != outer) {
      outer = writer;
      inner = new UnsafeArrayWriter(writer, element.size());
    }
    Seq<?> elements = value instanceof Object[] array ? ArraySeq.make(array) : (Seq<?>) value;
    int before = writer.cursor();
    inner.initialize(elements.length());
    Iterator<?> rest = elements.iterator();
    for (int i = 0; rest.hasNext(); i++) {
      element.writeAny(inner, i, rest.next());
    }
    writer.setOffsetAndSizeFromPreviousCursor(at, before);
  }

  @Override
  Object read(SpecializedGetters values, int at) {
    ArrayData array = values.getArray(at);
    Object[] elements = new Object[array.numElements()];
    for (int i = 0; i < elements.length; i++) {
      elements[i] = element.readAny(array, i);
    }
    return ArraySeq.make(elements);
  }
}
