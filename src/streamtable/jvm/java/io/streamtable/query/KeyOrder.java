package io.streamtable.query;

import io.streamtable.expressions.MethodCall;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NullsLast$;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.unsafe.types.ByteArray;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The order of keys in RocksDB, which compares the bytes of Spark's binary row without a sign.
 *
 * <p>A binary row has a bit for each NULL, then eight bytes for each column, and then the texts.
 * The lowest byte of an integer comes first. The eight bytes of a text begin with its length.
 * Columns of other types are sorted by their values, so their keys may have another order.
 */
public final class KeyOrder {
  private static final int LENGTH_BITS = 56;

  private KeyOrder() {}

  /** Returns the order of keys with these columns, which keeps rows of a key adjacent. */
  static List<SortOrder> of(List<SortOrder> columns) {
    List<SortOrder> orders = new ArrayList<>();
    List<SortOrder> texts = new ArrayList<>();
    for (SortOrder column : columns) {
      DataType type = column.child().dataType();
      if (type instanceof StringType || type instanceof BinaryType) {
        // Spark compares eight bytes first. If the key is one text, its first bytes are among them.
        orders.add(
            columns.size() == 1
                ? by("head", DataTypes.LongType, column)
                : by("length", DataTypes.IntegerType, column));
        texts.add(column);
      } else {
        orders.add(fixed(column));
      }
    }
    orders.addAll(texts);
    return orders;
  }

  private static SortOrder fixed(SortOrder column) {
    DataType type = column.child().dataType();
    if (type.equals(DataTypes.LongType)
        || type.equals(DataTypes.TimestampType)
        || type.equals(DataTypes.TimestampNTZType)) {
      return by("ofLong", DataTypes.LongType, column);
    }
    if (type.equals(DataTypes.IntegerType) || type.equals(DataTypes.DateType)) {
      return by("ofInt", DataTypes.IntegerType, column);
    }
    return by(column.child(), column);
  }

  private static SortOrder by(String method, DataType result, SortOrder column) {
    return by(
        MethodCall.ofStatic(KeyOrder.class, method, result, List.of(column.child())), column);
  }

  /** A NULL has its bit before all other bytes, so it comes last. */
  private static SortOrder by(Expression key, SortOrder column) {
    return column.copy(key, column.direction(), NullsLast$.MODULE$, OwnNodes.seq(List.of()));
  }

  /** Returns an integer whose order is that of the eight bytes of another. */
  public static long ofLong(long column) {
    return Long.reverseBytes(column) ^ Long.MIN_VALUE;
  }

  /** Returns an integer whose order is that of the eight bytes of another. */
  public static int ofInt(int column) {
    return Integer.reverseBytes(column) ^ Integer.MIN_VALUE;
  }

  /** Returns an integer whose order is that of the length of a text in a key. */
  public static int length(UTF8String text) {
    return ofInt(text.numBytes());
  }

  /** Returns an integer whose order is that of the length of bytes in a key. */
  public static int length(byte[] bytes) {
    return ofInt(bytes.length);
  }

  /** Returns an integer whose order is that of the length and first bytes of a text in a key. */
  public static long head(UTF8String text) {
    return head(text.numBytes(), text.getPrefix());
  }

  /** Returns an integer whose order is that of the length and first bytes in a key. */
  public static long head(byte[] bytes) {
    return head(bytes.length, ByteArray.getPrefix(bytes));
  }

  private static long head(int length, long prefix) {
    return ((long) length << LENGTH_BITS | prefix >>> Byte.SIZE) ^ Long.MIN_VALUE;
  }
}
