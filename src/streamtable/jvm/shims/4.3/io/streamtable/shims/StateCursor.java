package io.streamtable.shims;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.state.ByteArrayPair;
import org.apache.spark.sql.execution.streaming.state.RocksDBIterator;
import org.apache.spark.sql.execution.streaming.state.RocksDBKeyStateEncoder;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.RocksDBValueStateEncoder;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import scala.Tuple3;

/**
 * Entries of a state variable in the order of their keys, as they were when the cursor was placed,
 * for RocksDB in Spark 4.3.
 */
public final class StateCursor {
  /** Number of steps that cost about as much as a search. */
  private static final int MAX_STEPS = 4;

  private final RocksDBStateStoreProvider provider;
  private final String variable;
  private final RocksDBKeyStateEncoder keys;
  private final RocksDBValueStateEncoder values;
  private RocksDBIterator entries;
  /** Number of steps before the next search: fewer, the farther the last keys were apart. */
  private int steps = MAX_STEPS;
  private byte[] key;
  private byte[] value;

  private StateCursor(RocksDBStateStoreProvider provider, String variable) {
    this.provider = provider;
    this.variable = variable;
    Tuple3<RocksDBKeyStateEncoder, RocksDBValueStateEncoder, Object> encoders =
        provider
            .org$apache$spark$sql$execution$streaming$state$RocksDBStateStoreProvider$$keyValueEncoderMap()
            .get(variable);
    this.keys = encoders._1();
    this.values = encoders._2();
  }

  /**
   * Returns a cursor over a variable, which has no place yet; null if the store is not RocksDB.
   *
   * @throws ReflectiveOperationException if this version of Spark has another store
   */
  public static StateCursor of(StateStore store, String variable)
      throws ReflectiveOperationException {
    if (!(store instanceof RocksDBStateStoreProvider.RocksDBStateStore)) {
      return null;
    }
    Method provider =
        store
            .getClass()
            .getMethod(
                "org$apache$spark$sql$execution$streaming$state$RocksDBStateStoreProvider$RocksDBStateStore$$$outer");
    return new StateCursor((RocksDBStateStoreProvider) provider.invoke(store), variable);
  }

  /** Places the cursor at a key. Spark closes it when the task ends, if nothing else does. */
  public void place(byte[] at) {
    if (isPlaced()) {
      entries.refresh();
    } else {
      entries = provider.rocksDB().reusableIterator(variable);
    }
    search(at);
  }

  /** Returns whether the cursor has a place. */
  public boolean isPlaced() {
    return entries != null;
  }

  public void close() {
    if (isPlaced()) {
      entries.close();
      entries = null;
    }
  }

  /** Returns the bytes of a key, whose order is that of the cursor. */
  public byte[] bytes(UnsafeRow key) {
    return keys.encodeKey(key);
  }

  /**
   * Moves forward to the first entry that is not before a key.
   *
   * @param wanted bytes of a key, not before those of earlier calls
   */
  public void moveTo(byte[] wanted) {
    int taken = 0;
    while (key != null && Arrays.compareUnsigned(key, wanted) < 0) {
      if (taken++ < steps) {
        step();
      } else {
        search(wanted);
        steps = 0;
      }
    }
    steps = Math.min(steps + 1, MAX_STEPS);
  }

  /**
   * Returns the value of a key to which the cursor was moved; null if there is none. It is valid
   * until the next call.
   */
  public UnsafeRow valueOf(byte[] wanted) {
    return key != null && Arrays.equals(key, wanted) ? values.decodeValue(value) : null;
  }

  private void search(byte[] wanted) {
    entries.seek(wanted);
    step();
  }

  private void step() {
    ByteArrayPair entry = entries.hasNext() ? entries.next() : null;
    key = entry == null ? null : entry.key();
    value = entry == null ? null : entry.value();
  }
}
