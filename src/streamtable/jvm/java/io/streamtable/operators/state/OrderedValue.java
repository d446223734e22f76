package io.streamtable.operators.state;

import io.streamtable.shims.StateCursor;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.StateTypesEncoder;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statevariables.ValueStateImpl;
import org.apache.spark.sql.streaming.ValueState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A value in state that is read with a cursor where this is faster.
 *
 * <p>A read searches the rows in memory and each file of RocksDB, and a missing key costs a C++
 * exception. Micro-batches read groups in the order of RocksDB's keys, so a cursor finds the next
 * group a few steps behind the last one, if the batch has many groups. If it has few, a search is
 * faster. So a task that reads often measures both, and goes on with the faster one.
 *
 * <p>The cursor has the entries of the time when it was placed. A key behind all keys that were read
 * or written since then has not changed. For any other key, the cursor is placed again. So all
 * writes of a task must go through this object.
 */
public final class OrderedValue<T> implements ValueState<T> {
  private static final Logger LOG = LoggerFactory.getLogger(OrderedValue.class);

  private final ValueState<T> state;
  private final StateTypesEncoder<T> encoder;
  private final StateCursor cursor;
  private final ReadChoice choice = new ReadChoice();
  /** The last of all keys that were read or written since the cursor was placed. */
  private byte[] last;

  private OrderedValue(ValueState<T> state, StateTypesEncoder<T> encoder, StateCursor cursor) {
    this.state = state;
    this.encoder = encoder;
    this.cursor = cursor;
  }

  /**
   * Returns the value with a cursor; the value itself if it expires, if it has one, or if there is
   * no cursor.
   */
  @SuppressWarnings("unchecked")
  public static <T> ValueState<T> of(ValueState<T> state) {
    if (!(state instanceof ValueStateImpl<T>)) {
      return state;
    }
    try {
      SparkVariable variable = SparkVariable.of(state, ValueStateImpl.class);
      StateCursor cursor = StateCursor.of(variable.store(), variable.name());
      return cursor == null
          ? state
          : new OrderedValue<>(state, (StateTypesEncoder<T>) variable.encoder(), cursor);
    } catch (ReflectiveOperationException e) {
      LOG.warn("this version of Spark has other values; each read of state is a search", e);
      return state;
    }
  }

  @Override
  public boolean exists() {
    return get() != null;
  }

  @Override
  public T get() {
    if (!choice.measures()) {
      return read();
    }
    long start = System.nanoTime();
    T value = read();
    choice.took(System.nanoTime() - start);
    if (!choice.measures() && !choice.usesCursor()) {
      cursor.close();
    }
    return value;
  }

  private T read() {
    if (!choice.usesCursor()) {
      return state.get();
    }
    byte[] key = key();
    if (!cursor.isPlaced() || Arrays.compareUnsigned(key, last) <= 0) {
      cursor.place(key);
    } else {
      cursor.moveTo(key);
    }
    last = key;
    UnsafeRow value = cursor.valueOf(key);
    return value == null ? null : encoder.decodeValue(value);
  }

  @Override
  public void update(T value) {
    state.update(value);
    written();
  }

  @Override
  public void clear() {
    state.clear();
    written();
  }

  private void written() {
    if (cursor.isPlaced()) {
      byte[] key = key();
      if (Arrays.compareUnsigned(key, last) > 0) {
        last = key;
      }
    }
  }

  /** Returns the key of the current group. */
  private byte[] key() {
    return cursor.bytes(encoder.encodeGroupingKey());
  }
}
