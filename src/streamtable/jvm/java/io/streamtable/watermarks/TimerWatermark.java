package io.streamtable.watermarks;

import scala.Option;

/**
 * The watermark at which the timers of a processor fire, in milliseconds: in a task the one that
 * the batch has reached, on the driver the one with which the batch began.
 *
 * <p>By the latter, Spark decides whether to run a batch without rows. Spark takes an option, so
 * this is one.
 */
public final class TimerWatermark extends Option<Object> {
  private final Long began;
  private final ReachedWatermark reached;

  public TimerWatermark(long began, ReachedWatermark reached) {
    this.began = began;
    this.reached = reached;
  }

  @Override
  public Object get() {
    return reached.millis() == ReachedWatermark.NONE ? began : (Long) reached.millis();
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof TimerWatermark;
  }

  @Override
  public int productArity() {
    return 1;
  }

  @Override
  public Object productElement(int place) {
    return get();
  }

  @Override
  public String toString() {
    return "TimerWatermark(" + get() + ")";
  }
}
