package io.streamtable.operators.window;

import java.io.Serializable;

/**
 * The windows of HOP or CUMULATE, in milliseconds, and their slices. Each slice is as long as the
 * step, and each window consists of whole slices.
 *
 * @param size length of a window; for CUMULATE the maximum length
 * @param step distance between the ends of windows
 * @param offset offset of the window starts
 * @param cumulative whether windows have the same start until they have the maximum length
 */
record Slices(long size, long step, long offset, boolean cumulative) implements Serializable {
  /** Returns the start of the window with this end. */
  long start(long end) {
    return cumulative ? period(end - step) : end - size;
  }

  /** Returns the end of the last window that contains a slice. */
  long lastEnd(long slice) {
    return (cumulative ? period(slice) : slice) + size;
  }

  private long period(long moment) {
    return moment - Math.floorMod(moment - offset, size);
  }
}
