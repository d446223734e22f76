package io.streamtable.query;

import java.util.concurrent.Callable;

/**
 * Throws exceptions unchecked, as they are. Spark's Scala code declares no exceptions, but catches
 * some of them by class, and ends a query quietly if it was interrupted.
 */
public final class Unchecked {
  private Unchecked() {}

  /** Throws an exception. The result is for the compiler: {@code throw unchecked(e)}. */
  public static RuntimeException unchecked(Throwable exception) {
    return Unchecked.<RuntimeException>sneak(exception);
  }

  /** Returns the result of a call. */
  public static <T> T call(Callable<T> call) {
    try {
      return call.call();
    } catch (Exception e) {
      throw unchecked(e);
    }
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> RuntimeException sneak(Throwable exception) throws E {
    throw (E) exception;
  }
}
