package io.streamtable.shims;

import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.state.StateStore;

/** Entries of a state variable in the order of their keys. Spark 4.2 has none that moves to a key. */
public final class StateCursor {
  private StateCursor() {}

  /** Returns null: there is no cursor, so nothing calls its other methods. */
  public static StateCursor of(StateStore store, String variable) {
    return null;
  }

  public void place(byte[] at) {
    throw none();
  }

  public boolean isPlaced() {
    throw none();
  }

  public void close() {
    throw none();
  }

  public byte[] bytes(UnsafeRow key) {
    throw none();
  }

  public void moveTo(byte[] wanted) {
    throw none();
  }

  public UnsafeRow valueOf(byte[] wanted) {
    throw none();
  }

  private static IllegalStateException none() {
    return new IllegalStateException("Spark 4.2 has no cursor over state");
  }
}
