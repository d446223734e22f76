package io.streamtable.functions;

import java.nio.ByteBuffer;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;
import org.roaringbitmap.RoaringBitmap;
import org.roaringbitmap.buffer.ImmutableRoaringBitmap;

/**
 * BITMAP functions. A value of type BITMAP is the binary form of a RoaringBitmap, which {@link
 * #write} makes the same for equal sets, so that equal values have equal bytes.
 */
public final class Bitmaps {
  private Bitmaps() {}

  /** Returns the set of the elements of an array that are not null. */
  @SqlFunction("BINARY")
  public static byte[] bitmapBuild(ArrayData values) {
    RoaringBitmap found = new RoaringBitmap();
    for (int i = 0; i < values.numElements(); i++) {
      if (!values.isNullAt(i)) {
        found.add(values.getInt(i));
      }
    }
    return write(found);
  }

  /** Returns the set that bytes of any RoaringBitmap library describe. Fails for other bytes. */
  @SqlFunction("BINARY")
  public static byte[] bitmapFromBytes(byte[] bytes) {
    return write(read(bytes));
  }

  /** Returns the intersection. */
  @SqlFunction("BINARY")
  public static byte[] bitmapAnd(byte[] left, byte[] right) {
    return write(RoaringBitmap.and(read(left), read(right)));
  }

  /** Returns the elements of the first set that are not in the second. */
  @SqlFunction("BINARY")
  public static byte[] bitmapAndnot(byte[] left, byte[] right) {
    return write(RoaringBitmap.andNot(read(left), read(right)));
  }

  /** Returns the union. */
  @SqlFunction("BINARY")
  public static byte[] bitmapOr(byte[] left, byte[] right) {
    return write(RoaringBitmap.or(read(left), read(right)));
  }

  /** Returns the elements of exactly one of the sets. */
  @SqlFunction("BINARY")
  public static byte[] bitmapXor(byte[] left, byte[] right) {
    return write(RoaringBitmap.xor(read(left), read(right)));
  }

  /** Returns the number of elements. */
  @SqlFunction("BIGINT")
  public static long bitmapCardinality(byte[] bitmap) {
    return new ImmutableRoaringBitmap(ByteBuffer.wrap(bitmap)).getLongCardinality();
  }

  /** Returns the elements in unsigned order. Fails for more elements than an array can have. */
  @SqlFunction("ARRAY<INT>")
  public static ArrayData bitmapToArray(byte[] bitmap) {
    if (bitmapCardinality(bitmap) > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("Failed to convert bitmap to an array.");
    }
    return UnsafeArrayData.fromPrimitiveArray(read(bitmap).toArray());
  }

  /** Returns the elements as unsigned numbers: {1,2,4294967295}; a long text is cut, as in Flink. */
  @SqlFunction("STRING")
  public static UTF8String bitmapToString(byte[] bitmap) {
    return UTF8String.fromString(read(bitmap).toString());
  }

  /** Returns a set from its binary form. */
  public static RoaringBitmap read(byte[] bytes) {
    RoaringBitmap found = new RoaringBitmap();
    try {
      found.deserialize(ByteBuffer.wrap(bytes));
    } catch (Exception broken) {
      throw new IllegalArgumentException("Failed to deserialize bitmap from bytes.", broken);
    }
    return found;
  }

  /**
   * Returns the binary form of a set: RoaringBitmap's portable format, with runs where they are
   * shorter. Changes the encoding of the set, but not its elements.
   */
  public static byte[] write(RoaringBitmap set) {
    // Whether runOptimize keeps a run that is as long as the alternative depends on the history.
    set.removeRunCompression();
    set.runOptimize();
    ByteBuffer buffer = ByteBuffer.allocate(set.serializedSizeInBytes());
    set.serialize(buffer);
    return buffer.array();
  }
}
