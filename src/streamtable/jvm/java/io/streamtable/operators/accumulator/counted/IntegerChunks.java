package io.streamtable.operators.accumulator.counted;

import io.streamtable.operators.accumulator.Partial;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.roaringbitmap.RoaringBitmap;

/**
 * A set of integers as bitmaps of 65,536 values each. The shuffled form is an array of (chunk,
 * bits).
 */
final class IntegerChunks implements Partial, Serializable {
  private static final int BITS = 16;
  private static final long LOW = (1L << BITS) - 1;

  private transient HashMap<Long, RoaringBitmap> chunks = new HashMap<>();
  private transient long lastChunk;
  private transient RoaringBitmap last;

  /** Returns the column of an array of (chunk, bits). */
  static StructField column(String name) {
    StructType element =
        new StructType(
            new StructField[] {
              DataTypes.createStructField("chunk", DataTypes.LongType, false),
              DataTypes.createStructField("bits", DataTypes.BinaryType, false)
            });
    return DataTypes.createStructField(name, DataTypes.createArrayType(element), true);
  }

  /** Returns the first integer of a chunk. */
  static long first(long chunk) {
    return chunk << BITS;
  }

  @Override
  public void add(Object value, int sign) {
    long number = ((Number) value).longValue();
    long chunk = number >> BITS;
    if (last == null || chunk != lastChunk) {
      last = chunks().computeIfAbsent(chunk, c -> new RoaringBitmap());
      lastChunk = chunk;
    }
    last.add((int) (number & LOW));
  }

  /** Adds the exported integers of another set. */
  void include(Row row, int at) {
    List<Row> others = row.getList(at);
    for (Row other : others) {
      RoaringBitmap bits = read((byte[]) other.get(1));
      chunks().merge(
          other.getLong(0),
          bits,
          (mine, theirs) -> {
            mine.or(theirs);
            return mine;
          });
    }
    last = null;
  }

  @Override
  public void export(Object[] row, int at) {
    Row[] all = new Row[chunks().size()];
    int next = 0;
    for (Map.Entry<Long, RoaringBitmap> entry : chunks.entrySet()) {
      all[next++] = RowFactory.create(entry.getKey(), write(entry.getValue()));
    }
    row[at] = all;
  }

  /** Passes each chunk to the consumer, and clears the set. */
  void drain(BiConsumer<Long, RoaringBitmap> taker) {
    chunks().forEach(taker);
    chunks.clear();
    last = null;
  }

  static RoaringBitmap read(byte[] bytes) {
    RoaringBitmap bitmap = new RoaringBitmap();
    try {
      bitmap.deserialize(new DataInputStream(new ByteArrayInputStream(bytes)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bitmap;
  }

  static byte[] write(RoaringBitmap bitmap) {
    ByteBuffer buffer = ByteBuffer.allocate(bitmap.serializedSizeInBytes());
    bitmap.serialize(buffer);
    return buffer.array();
  }

  private Map<Long, RoaringBitmap> chunks() {
    if (chunks == null) {
      chunks = new HashMap<>();
    }
    return chunks;
  }
}
