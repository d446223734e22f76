package io.streamtable.operators.state;

import io.streamtable.operators.row.RowValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.QueryInfo;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** State in memory that exists as long as this object, without timers. */
public final class HeapState implements StatefulProcessorHandle {
  @Override
  public <T> ValueState<T> getValueState(String name, Encoder<T> encoder, TTLConfig ttl) {
    return new HeapValue<>();
  }

  @Override
  public <T> ValueState<T> getValueState(String name, TTLConfig ttl, Encoder<T> encoder) {
    return new HeapValue<>();
  }

  @Override
  public <T> ListState<T> getListState(String name, Encoder<T> encoder, TTLConfig ttl) {
    return new HeapList<>();
  }

  @Override
  public <T> ListState<T> getListState(String name, TTLConfig ttl, Encoder<T> encoder) {
    return new HeapList<>();
  }

  @Override
  public <K, V> MapState<K, V> getMapState(
      String name, Encoder<K> keys, Encoder<V> values, TTLConfig ttl) {
    return new HeapMap<>();
  }

  @Override
  public <K, V> MapState<K, V> getMapState(
      String name, TTLConfig ttl, Encoder<K> keys, Encoder<V> values) {
    return new HeapMap<>();
  }

  @Override
  public QueryInfo getQueryInfo() {
    throw new UnsupportedOperationException("state in memory belongs to no query");
  }

  @Override
  public void registerTimer(long moment) {
    throw new UnsupportedOperationException("state in memory has no timers");
  }

  @Override
  public void deleteTimer(long moment) {
    throw new UnsupportedOperationException("state in memory has no timers");
  }

  @Override
  public Iterator<Object> listTimers() {
    return CollectionConverters.asScala(List.<Object>of().iterator());
  }

  @Override
  public void deleteIfExists(String name) {
    throw new UnsupportedOperationException("state in memory goes with its object");
  }

  private static final class HeapValue<T> implements ValueState<T> {
    private T value;

    @Override
    public boolean exists() {
      return value != null;
    }

    @Override
    public T get() {
      return value;
    }

    @Override
    public void update(T value) {
      this.value = value;
    }

    @Override
    public void clear() {
      value = null;
    }
  }

  private static final class HeapList<T> implements ListState<T> {
    private final List<T> values = new ArrayList<>();

    @Override
    public boolean exists() {
      return !values.isEmpty();
    }

    @Override
    public Iterator<T> get() {
      return CollectionConverters.asScala(values.iterator());
    }

    @Override
    @SuppressWarnings("unchecked")
    public void put(Object values) {
      this.values.clear();
      appendList(values);
    }

    @Override
    public void appendValue(T value) {
      values.add(value);
    }

    @Override
    @SuppressWarnings("unchecked")
    public void appendList(Object values) {
      for (Object value : (Object[]) values) {
        this.values.add((T) value);
      }
    }

    @Override
    public void clear() {
      values.clear();
    }
  }

  private static final class HeapMap<K, V> implements MapState<K, V> {
    private final Map<Object, Tuple2<K, V>> entries = new LinkedHashMap<>();

    /** Makes rows usable as keys: Spark's rows hash byte arrays by their address. */
    private static Object comparable(Object key) {
      return key instanceof Row row ? new RowValue(row) : key;
    }

    @Override
    public boolean exists() {
      return !entries.isEmpty();
    }

    @Override
    public V getValue(K key) {
      Tuple2<K, V> entry = entries.get(comparable(key));
      return entry == null ? null : entry._2();
    }

    @Override
    public boolean containsKey(K key) {
      return entries.containsKey(comparable(key));
    }

    @Override
    public void updateValue(K key, V value) {
      entries.put(comparable(key), new Tuple2<>(key, value));
    }

    @Override
    public Iterator<Tuple2<K, V>> iterator() {
      return CollectionConverters.asScala(entries.values().iterator());
    }

    @Override
    public Iterator<K> keys() {
      return CollectionConverters.asScala(entries.values().stream().map(Tuple2::_1).iterator());
    }

    @Override
    public Iterator<V> values() {
      return CollectionConverters.asScala(entries.values().stream().map(Tuple2::_2).iterator());
    }

    @Override
    public void removeKey(K key) {
      entries.remove(comparable(key));
    }

    @Override
    public void clear() {
      entries.clear();
    }
  }
}
