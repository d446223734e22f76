package io.streamtable.operators.state;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.CompositeKeyStateEncoder;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statevariables.MapStateImpl;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStoreIterator;
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair;
import org.apache.spark.sql.streaming.MapState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A map in state that knows which groups have entries, if these are few. To ask for the entries of
 * a group opens an iterator of RocksDB, which costs as much as several reads.
 *
 * <p>A task that has asked often reads the keys of all of its groups, once. From then on, it asks
 * only for groups that had entries at that time or got some since. If the task has too many groups,
 * it goes on to ask for each.
 */
public final class KnownGroups<K, V> implements MapState<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(KnownGroups.class);

  /** Number of questions that cost about as much as to read {@link #MAX_ENTRIES} keys. */
  private static final int MIN_QUESTIONS = 1_000;

  private static final int MAX_ENTRIES = 10_000;

  private final MapState<K, V> state;
  private final StateStore store;
  private final String name;
  private final CompositeKeyStateEncoder<?, ?> encoder;
  private int questions;
  /** The keys of groups that may have entries; null if they are not read, or too many. */
  private Set<ByteBuffer> groups;

  private KnownGroups(MapState<K, V> state, SparkVariable variable) {
    this.state = state;
    this.store = variable.store();
    this.name = variable.name();
    this.encoder = (CompositeKeyStateEncoder<?, ?>) variable.encoder();
  }

  /** Returns the map with this knowledge; the map itself if its entries expire. */
  public static <K, V> MapState<K, V> of(MapState<K, V> state) {
    if (!(state instanceof MapStateImpl<K, V>)) {
      return state;
    }
    try {
      return new KnownGroups<>(state, SparkVariable.of(state, MapStateImpl.class));
    } catch (ReflectiveOperationException e) {
      LOG.warn("this version of Spark has other maps; joins look for rows that do not exist", e);
      return state;
    }
  }

  @Override
  public boolean exists() {
    return mayExist() && state.exists();
  }

  @Override
  public V getValue(K key) {
    return state.getValue(key);
  }

  @Override
  public boolean containsKey(K key) {
    return state.containsKey(key);
  }

  @Override
  public void updateValue(K key, V value) {
    if (groups != null) {
      groups.add(group(encoder.encodeGroupingKey()));
    }
    state.updateValue(key, value);
  }

  @Override
  public Iterator<Tuple2<K, V>> iterator() {
    return mayExist() ? state.iterator() : none();
  }

  @Override
  public Iterator<K> keys() {
    return mayExist() ? state.keys() : none();
  }

  @Override
  public Iterator<V> values() {
    return mayExist() ? state.values() : none();
  }

  @Override
  public void removeKey(K key) {
    state.removeKey(key);
  }

  @Override
  public void clear() {
    if (mayExist()) {
      state.clear();
    }
  }

  /** Returns whether the current group may have entries. */
  private boolean mayExist() {
    if (++questions == MIN_QUESTIONS) {
      groups = groups();
    }
    return groups == null || groups.contains(group(encoder.encodeGroupingKey()));
  }

  /** Reads the keys of all groups; returns null if they have too many entries. */
  private Set<ByteBuffer> groups() {
    Set<ByteBuffer> found = new HashSet<>();
    try (StateStoreIterator<UnsafeRowPair> entries = store.iterator(name)) {
      for (int i = 0; entries.hasNext(); i++) {
        if (i == MAX_ENTRIES) {
          return null;
        }
        found.add(group(entries.next().key()));
      }
    }
    return found;
  }

  /** Returns the group of a key, whose first column is the row of grouping columns. */
  private static ByteBuffer group(UnsafeRow key) {
    return ByteBuffer.wrap(key.getBinary(0));
  }

  private static <T> Iterator<T> none() {
    return CollectionConverters.asScala(Collections.<T>emptyIterator());
  }
}
