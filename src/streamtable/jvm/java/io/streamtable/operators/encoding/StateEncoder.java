package io.streamtable.operators.encoding;

import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.Analyzer;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.encoders.package$;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/**
 * Encoder of state keys and values that writes the bytes of Spark's own encoder without generated
 * code. Spark resolves and compiles its encoder again for each state variable of each task, which
 * takes longer than a small batch itself.
 *
 * <p>Spark's encoder is used for types without a {@link ColumnCodec}, such as maps and intervals,
 * and if dates and times are not values of java.time.
 */
public final class StateEncoder<T> extends ExpressionEncoder<T> {
  @SuppressWarnings("unchecked")
  private static final Seq<Expression> NONE = (Seq<Expression>) (Seq<?>) Nil$.MODULE$;

  private StateEncoder(ExpressionEncoder<T> spark) {
    super(spark.encoder(), spark.objSerializer(), spark.objDeserializer());
  }

  /** Returns an encoder of rows. */
  public static Encoder<Row> row(StructType schema) {
    return of(Encoders.row(schema));
  }

  public static Encoder<Long> longs() {
    return of(Encoders.LONG());
  }

  public static Encoder<byte[]> binaries() {
    return of(Encoders.BINARY());
  }

  /** Returns an encoder that takes the place of one of Spark's, if it can. */
  private static <T> Encoder<T> of(Encoder<T> spark) {
    boolean known =
        SQLConf.get().datetimeJava8ApiEnabled() && ColumnCodecs.columns(spark.schema()) != null;
    return known ? new StateEncoder<>(package$.MODULE$.encoderFor(spark)) : spark;
  }

  /** Returns this encoder: the codecs need no resolution. */
  @Override
  public ExpressionEncoder<T> resolveAndBind(Seq<Attribute> attributes, Analyzer analyzer) {
    return this;
  }

  @Override
  public ExpressionEncoder.Serializer<T> createSerializer() {
    return new Writer<>(codec(), isSerializedAsStruct());
  }

  @Override
  public ExpressionEncoder.Deserializer<T> createDeserializer() {
    return new Reader<>(codec(), isSerializedAsStruct());
  }

  private StructCodec codec() {
    return new StructCodec(schema(), ColumnCodecs.columns(schema()));
  }

  /** Writes rows, or values as rows of one column. The row is used again by the next call. */
  private static final class Writer<T> extends ExpressionEncoder.Serializer<T> {
    private final StructCodec codec;
    private final UnsafeRowWriter writer;
    private final boolean isStruct;

    Writer(StructCodec codec, boolean isStruct) {
      super(NONE);
      this.codec = codec;
      this.isStruct = isStruct;
      this.writer = new UnsafeRowWriter(codec.width());
    }

    @Override
    public InternalRow apply(T value) {
      writer.reset();
      writer.zeroOutNullBytes();
      if (isStruct) {
        codec.writeColumns(writer, (Row) value);
      } else {
        codec.writeColumn(writer, 0, value);
      }
      return writer.getRow();
    }
  }

  private static final class Reader<T> extends ExpressionEncoder.Deserializer<T> {
    private final StructCodec codec;
    private final boolean isStruct;

    Reader(StructCodec codec, boolean isStruct) {
      super(NONE);
      this.codec = codec;
      this.isStruct = isStruct;
    }

    @Override
    @SuppressWarnings("unchecked")
    public T apply(InternalRow row) {
      Row columns = codec.readColumns(row);
      return (T) (isStruct ? columns : columns.get(0));
    }
  }
}
