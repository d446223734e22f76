package io.streamtable.operators.accumulator.bitmap;

import io.streamtable.functions.Bitmaps;
import org.roaringbitmap.RoaringBitmap;

/** Operation of a BITMAP aggregate. */
enum BitmapOperation {
  BUILD,
  AND,
  OR,
  XOR;

  /** Changes a set by a value of the aggregate: an integer of BUILD, otherwise a bitmap. */
  void apply(RoaringBitmap set, Object value) {
    if (this == BUILD) {
      set.add(((Number) value).intValue());
    } else {
      combine(set, Bitmaps.read((byte[]) value));
    }
  }

  /** Changes a set by the result of the same aggregate over other rows. */
  void combine(RoaringBitmap set, RoaringBitmap other) {
    switch (this) {
      case AND -> set.and(other);
      case XOR -> set.xor(other);
      default -> set.or(other);
    }
  }
}
