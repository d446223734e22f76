package io.streamtable.codec;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/** Codecs as columns of a DataFrame; both modes of execution take them, as they are expressions. */
public final class Columns {
  private Columns() {}

  /**
   * What a reader makes of each record.
   *
   * @param outDdl the row kind and the physical columns, as Spark DDL
   * @param arguments key, value, topic, partition, offset and headers
   */
  public static Column read(RecordReader reader, String outDdl, List<Column> arguments) {
    return invoke(reader, RecordReader.class, "read", StructType.fromDDL(outDdl), arguments);
  }

  /** The changes of each record, an array of such rows; parameters as above. */
  public static Column readChanges(ChangeReader reader, String outDdl, List<Column> arguments) {
    DataType rows = DataTypes.createArrayType(StructType.fromDDL(outDdl));
    return invoke(reader, ChangeReader.class, "read", rows, arguments);
  }

  /** What an encoder makes of a struct column; null for a null struct. */
  public static Column encode(Encoder encoder, Column struct) {
    EncodeOrNull target = new EncodeOrNull(encoder);
    return invoke(target, EncodeOrNull.class, "encode", DataTypes.BinaryType, List.of(struct));
  }

  /**
   * Each row's watermark in milliseconds.
   *
   * @param arguments topic, partition, and the watermark in microseconds; the least number
   *     there is stands for NULL
   */
  public static Column watermark(PartitionWatermarks watermarks, List<Column> arguments) {
    return invoke(
        watermarks, PartitionWatermarks.class, "observe", DataTypes.LongType, arguments);
  }

  /**
   * How far a partition had come when the batch began, in milliseconds.
   *
   * @param arguments "topic/partition"
   */
  public static Column knownWatermark(PartitionWatermarks watermarks, List<Column> arguments) {
    return invoke(watermarks, PartitionWatermarks.class, "known", DataTypes.LongType, arguments);
  }

  /** What a method of an object makes of columns, called once per row, nulls included. */
  public static Column invoke(
      Object target, Class<?> type, String method, DataType result, List<Column> arguments) {
    List<Expression> expressions = new ArrayList<>();
    for (Column argument : arguments) {
      expressions.add(ExpressionUtils.expression(argument));
    }
    return ExpressionUtils.column(
        new Invoke(
            new Literal(target, new ObjectType(type)),
            method,
            result,
            CollectionConverters.asScala(expressions).toSeq(),
            CollectionConverters.asScala(List.<AbstractDataType>of()).toSeq(),
            false, // nulls reach the method: a null key or value has a meaning
            true,
            // Not deterministic, on purpose: Spark then neither copies the call into several
            // expressions nor moves it, and counters count each record once.
            false));
  }

  /** Keeps encoders free of nulls; public because generated code calls it. */
  public static final class EncodeOrNull implements java.io.Serializable {
    private final Encoder encoder;

    private EncodeOrNull(Encoder encoder) {
      this.encoder = encoder;
    }

    /** The bytes, or null. */
    public byte[] encode(InternalRow row) {
      return row == null ? null : encoder.encode(row);
    }
  }
}
