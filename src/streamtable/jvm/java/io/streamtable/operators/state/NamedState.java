package io.streamtable.operators.state;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.QueryInfo;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import scala.collection.Iterator;

/** Gives access to the variables that a processor has opened, by their names. */
public final class NamedState implements StatefulProcessorHandle {
  private final StatefulProcessorHandle handle;
  private final Map<String, Object> opened = new HashMap<>();

  public NamedState(StatefulProcessorHandle handle) {
    this.handle = handle;
  }

  /** Returns a variable with a value. */
  @SuppressWarnings("unchecked")
  public ValueState<Object> value(String name) {
    return (ValueState<Object>) found(name, ValueState.class);
  }

  /** Returns a variable with a map. */
  @SuppressWarnings("unchecked")
  public MapState<Object, Object> map(String name) {
    return (MapState<Object, Object>) found(name, MapState.class);
  }

  private Object found(String name, Class<?> type) {
    Object variable = opened.get(name);
    if (!type.isInstance(variable)) {
      throw new IllegalStateException("the state has no " + type.getSimpleName() + " " + name);
    }
    return variable;
  }

  private <T> T opened(String name, T variable) {
    opened.put(name, variable);
    return variable;
  }

  @Override
  public <T> ValueState<T> getValueState(String name, Encoder<T> encoder, TTLConfig ttl) {
    return opened(name, handle.getValueState(name, encoder, ttl));
  }

  @Override
  public <T> ValueState<T> getValueState(String name, TTLConfig ttl, Encoder<T> encoder) {
    return opened(name, handle.getValueState(name, encoder, ttl));
  }

  @Override
  public <T> ListState<T> getListState(String name, Encoder<T> encoder, TTLConfig ttl) {
    return opened(name, handle.getListState(name, encoder, ttl));
  }

  @Override
  public <T> ListState<T> getListState(String name, TTLConfig ttl, Encoder<T> encoder) {
    return opened(name, handle.getListState(name, encoder, ttl));
  }

  @Override
  public <K, V> MapState<K, V> getMapState(
      String name, Encoder<K> keys, Encoder<V> values, TTLConfig ttl) {
    return opened(name, handle.getMapState(name, keys, values, ttl));
  }

  @Override
  public <K, V> MapState<K, V> getMapState(
      String name, TTLConfig ttl, Encoder<K> keys, Encoder<V> values) {
    return opened(name, handle.getMapState(name, keys, values, ttl));
  }

  @Override
  public QueryInfo getQueryInfo() {
    return handle.getQueryInfo();
  }

  @Override
  public void registerTimer(long moment) {
    handle.registerTimer(moment);
  }

  @Override
  public void deleteTimer(long moment) {
    handle.deleteTimer(moment);
  }

  @Override
  public Iterator<Object> listTimers() {
    return handle.listTimers();
  }

  @Override
  public void deleteIfExists(String name) {
    handle.deleteIfExists(name);
  }
}
