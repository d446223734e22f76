package io.streamtable.operators.accumulator.bitmap;

import io.streamtable.functions.Bitmaps;
import java.util.ArrayList;
import java.util.List;
import org.roaringbitmap.RoaringBitmap;

/**
 * How often each integer occurs. A bitmap for each binary digit of the counts holds the integers
 * whose count has that digit, so that a bitmap is counted without a loop over its elements.
 */
final class IntegerCounts {
  private final List<RoaringBitmap> digits = new ArrayList<>();

  boolean isEmpty() {
    return digits.isEmpty();
  }

  /** Counts an integer once more. */
  void add(int value) {
    for (RoaringBitmap digit : digits) {
      if (digit.checkedAdd(value)) {
        return;
      }
      digit.remove(value);
    }
    digits.add(RoaringBitmap.bitmapOf(value));
  }

  /** Counts each element of a bitmap once more. */
  void add(RoaringBitmap values) {
    add(values, 0);
  }

  /** Adds the counts of another object. */
  void add(IntegerCounts other) {
    for (int i = 0; i < other.digits.size(); i++) {
      add(other.digits.get(i), i);
    }
  }

  private void add(RoaringBitmap values, int place) {
    RoaringBitmap carry = values.clone();
    for (int i = place; !carry.isEmpty(); i++) {
      while (digits.size() <= i) {
        digits.add(new RoaringBitmap());
      }
      RoaringBitmap next = RoaringBitmap.and(digits.get(i), carry);
      digits.get(i).xor(carry);
      carry = next;
    }
  }

  /** Subtracts the counts of another object, down to zero. */
  void subtract(IntegerCounts other) {
    for (int i = 0; i < other.digits.size(); i++) {
      subtract(other.digits.get(i), i);
    }
    while (!digits.isEmpty() && digits.get(digits.size() - 1).isEmpty()) {
      digits.remove(digits.size() - 1);
    }
  }

  private void subtract(RoaringBitmap values, int place) {
    RoaringBitmap borrow = values.clone();
    for (int i = place; i < digits.size() && !borrow.isEmpty(); i++) {
      RoaringBitmap next = RoaringBitmap.andNot(borrow, digits.get(i));
      digits.get(i).xor(borrow);
      borrow = next;
    }
    for (RoaringBitmap digit : digits) {
      digit.andNot(borrow);
    }
  }

  IntegerCounts copy() {
    IntegerCounts copy = new IntegerCounts();
    digits.forEach(digit -> copy.digits.add(digit.clone()));
    return copy;
  }

  /** Returns the integers with a count above zero. */
  RoaringBitmap present() {
    RoaringBitmap found = new RoaringBitmap();
    digits.forEach(found::or);
    return found;
  }

  /** Returns the integers with a count, which is above zero. */
  RoaringBitmap withCount(long count) {
    int top = Long.SIZE - 1 - Long.numberOfLeadingZeros(count);
    if (top >= digits.size()) {
      return new RoaringBitmap();
    }
    RoaringBitmap found = digits.get(top).clone();
    for (int i = 0; i < digits.size(); i++) {
      if ((count >> i & 1) == 1) {
        found.and(digits.get(i));
      } else {
        found.andNot(digits.get(i));
      }
    }
    return found;
  }

  /** Adds counts that {@link #export} wrote. */
  void include(Iterable<byte[]> exported) {
    int place = 0;
    for (byte[] digit : exported) {
      add(Bitmaps.read(digit), place++);
    }
  }

  /** Returns the bitmaps of the digits, the lowest first. */
  byte[][] export() {
    return digits.stream().map(Bitmaps::write).toArray(byte[][]::new);
  }
}
