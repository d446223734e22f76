package io.streamtable.operators.accumulator.bitmap;

import io.streamtable.functions.Bitmaps;
import io.streamtable.operators.accumulator.Partial;
import java.io.Serializable;
import org.roaringbitmap.RoaringBitmap;

/**
 * The result of an operation over the values so far, and the number of values. Values are retracted
 * from XOR only, whose inverse is XOR.
 */
final class RunningBitmap implements Partial, Serializable {
  private final BitmapOperation operation;
  private long count;
  /** Null if it has to be read from the bytes, or without values. */
  private transient RoaringBitmap set;
  /** Null if it has to be written from the set, or without values. */
  private byte[] bytes;

  RunningBitmap(BitmapOperation operation) {
    this.operation = operation;
  }

  @Override
  public void add(Object value, int sign) {
    count += sign;
    if (isNew() && operation != BitmapOperation.BUILD) {
      bytes = (byte[]) value;
      return;
    }
    RoaringBitmap changed = isNew() ? new RoaringBitmap() : set();
    operation.apply(changed, value);
    replace(changed);
  }

  /** Loads what {@link #export} wrote; nulls are no values. */
  void load(Object count, Object bytes) {
    this.count = count == null ? 0 : (Long) count;
    this.set = null;
    this.bytes = (byte[]) bytes;
  }

  /** Adds what {@link #export} of another object wrote. */
  void include(Object count, Object bytes) {
    if (bytes == null) {
      return;
    }
    this.count += (Long) count;
    if (isNew()) {
      this.bytes = (byte[]) bytes;
      return;
    }
    RoaringBitmap changed = set();
    operation.combine(changed, Bitmaps.read((byte[]) bytes));
    replace(changed);
  }

  @Override
  public void export(Object[] row, int at) {
    row[at] = count;
    row[at + 1] = bytes();
  }

  /** Returns the binary form of the result; null if there are no values. */
  byte[] result() {
    return count <= 0 ? null : bytes();
  }

  private boolean isNew() {
    return set == null && bytes == null;
  }

  private RoaringBitmap set() {
    return set == null ? Bitmaps.read(bytes) : set;
  }

  private void replace(RoaringBitmap changed) {
    set = changed;
    bytes = null;
  }

  private byte[] bytes() {
    if (bytes == null && set != null) {
      bytes = Bitmaps.write(set);
    }
    return bytes;
  }
}
