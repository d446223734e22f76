package io.streamtable.operators.encoding;

import org.apache.spark.sql.Dataset;
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
 * Encoder of state keys and values, and of the rows that Java functions take. It writes and reads
 * the bytes of Spark's own encoder without generated code. Spark resolves its encoder and generates
 * its code again for each state variable, function and writer of each task, which takes longer than
 * a small batch itself. What functions return is left to Spark's code.
 *
 * <p>Spark's encoder is used for types without a {@link ColumnCodec}, such as intervals, and if dates
 * and times are not values of java.time.
 */
public final class DirectEncoder<T> extends ExpressionEncoder<T> {
  @SuppressWarnings("unchecked")
  private static final Seq<Expression> NONE = (Seq<Expression>) (Seq<?>) Nil$.MODULE$;

  private DirectEncoder(ExpressionEncoder<T> spark) {
    super(spark.encoder(), spark.objSerializer(), deserializer(spark));
  }

  /** Returns an encoder of rows. */
  public static Encoder<Row> row(StructType schema) {
    return of(Encoders.row(schema));
  }

  /** Returns the same rows, which Java functions and writers take without generated code. */
  public static Dataset<Row> rows(Dataset<Row> rows) {
    return rows.as(row(rows.schema()));
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
    return known ? new DirectEncoder<>(package$.MODULE$.encoderFor(spark)) : spark;
  }

  private static Expression deserializer(ExpressionEncoder<?> spark) {
    return spark.isSerializedAsStructForTopLevel()
        ? DecodedRow.of(spark.schema())
        : spark.objDeserializer();
  }

  /** Returns this encoder: the codecs need no resolution. */
  @Override
  public ExpressionEncoder<T> resolveAndBind(Seq<Attribute> attributes, Analyzer analyzer) {
    return this;
  }

  @Override
  public ExpressionEncoder.Serializer<T> createSerializer() {
    return new Writer<>(codec(schema()), isSerializedAsStruct());
  }

  @Override
  public ExpressionEncoder.Deserializer<T> createDeserializer() {
    return new Reader<>(schema(), isSerializedAsStruct());
  }

  /** Returns a new codec of a row whose columns all have one. */
  static StructCodec codec(StructType schema) {
    return new StructCodec(schema, ColumnCodecs.columns(schema));
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

  /** Reads rows, or values of rows of one column. Spark sends the reader of a sink to its tasks. */
  private static final class Reader<T> extends ExpressionEncoder.Deserializer<T> {
    private final StructType schema;
    private final boolean isStruct;
    private transient StructCodec codec;

    Reader(StructType schema, boolean isStruct) {
      super(NONE);
      this.schema = schema;
      this.isStruct = isStruct;
    }

    @Override
    @SuppressWarnings("unchecked")
    public T apply(InternalRow row) {
      if (codec == null) {
        codec = codec(schema);
      }
      Row columns = codec.readColumns(row);
      return (T) (isStruct ? columns : columns.get(0));
    }
  }
}
