package io.streamtable.operators.bundle;

import java.util.function.Function;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericRow;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** The decoded form of a {@link RowBundle}: a row without columns that stands for its rows. */
public final class BundledRows extends GenericRow {
  private final transient RowBundle bundle;
  private final transient Function<InternalRow, Row> decoder;

  public BundledRows(RowBundle bundle, Function<InternalRow, Row> decoder) {
    super(new Object[0]);
    this.bundle = bundle;
    this.decoder = decoder;
  }

  private Iterator<Row> rows() {
    return CollectionConverters.asScala(bundle.rows().stream().map(decoder).iterator());
  }

  /** Returns the rows of the input, which has either one bundle or rows. */
  static Iterator<Row> of(Iterator<Row> input) {
    if (!input.hasNext()) {
      return input;
    }
    Row first = input.next();
    return first instanceof BundledRows bundled ? bundled.rows() : new Whole(first, input);
  }

  /** A first row and the others. */
  private static final class Whole extends AbstractIterator<Row> {
    private final Iterator<Row> others;
    private Row first;

    Whole(Row first, Iterator<Row> others) {
      this.first = first;
      this.others = others;
    }

    @Override
    public boolean hasNext() {
      return first != null || others.hasNext();
    }

    @Override
    public Row next() {
      Row next = first == null ? others.next() : first;
      first = null;
      return next;
    }
  }
}
