package io.streamtable.operators.accumulator.bitmap;

import io.streamtable.functions.Bitmaps;
import io.streamtable.operators.accumulator.Partial;
import org.roaringbitmap.RoaringBitmap;

/**
 * The net number of values, and of each of their integers. Retractions without an addition remain,
 * as in Flink: they cancel a later addition.
 */
final class CountedBitmaps implements Partial {
  private long count;
  private final IntegerCounts added = new IntegerCounts();
  private final IntegerCounts removed = new IntegerCounts();

  @Override
  public void add(Object value, int sign) {
    count += sign;
    IntegerCounts counts = sign > 0 ? added : removed;
    if (value instanceof Number number) {
      counts.add(number.intValue());
    } else {
      counts.add(Bitmaps.read((byte[]) value));
    }
  }

  /** Adds what {@link #export} wrote; nulls are no values. */
  void include(Object count, Iterable<byte[]> added, Iterable<byte[]> removed) {
    this.count += count == null ? 0 : (Long) count;
    this.added.include(added);
    this.removed.include(removed);
  }

  @Override
  public void export(Object[] row, int at) {
    settle();
    row[at] = count;
    row[at + 1] = added.export();
    row[at + 2] = removed.export();
  }

  /** Cancels additions and retractions of the same integers. */
  void settle() {
    if (!removed.isEmpty()) {
      IntegerCounts before = added.copy();
      added.subtract(removed);
      removed.subtract(before);
    }
  }

  /** Returns the result of an operation after {@link #settle}; null if there are no values. */
  RoaringBitmap result(BitmapOperation operation) {
    if (operation == BitmapOperation.BUILD) {
      RoaringBitmap found = added.present();
      return found.isEmpty() ? null : found;
    }
    if (count <= 0) {
      return null;
    }
    return operation == BitmapOperation.AND ? added.withCount(count) : added.present();
  }
}
