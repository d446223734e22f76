package io.streamtable.operators.state;

import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.QueryInfo;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import scala.collection.Iterator;

/** A handle that passes every call on; subclasses change what opens a variable, or see it opened. */
abstract class WrappedState implements StatefulProcessorHandle {
  private final StatefulProcessorHandle handle;

  WrappedState(StatefulProcessorHandle handle) {
    this.handle = handle;
  }

  /** Returns the name of a variable, by the one that its processor gives. */
  String name(String given) {
    return given;
  }

  /** Returns the TTL of a variable, by the one that its processor gives. */
  TTLConfig ttl(TTLConfig given) {
    return given;
  }

  /** Takes a variable that has been opened, and returns it. */
  <T> T opened(String name, T variable) {
    return variable;
  }

  @Override
  public <T> ValueState<T> getValueState(String name, Encoder<T> encoder, TTLConfig given) {
    return opened(name, handle.getValueState(name(name), encoder, ttl(given)));
  }

  @Override
  public <T> ValueState<T> getValueState(String name, TTLConfig given, Encoder<T> encoder) {
    return opened(name, handle.getValueState(name(name), encoder, ttl(given)));
  }

  @Override
  public <T> ListState<T> getListState(String name, Encoder<T> encoder, TTLConfig given) {
    return opened(name, handle.getListState(name(name), encoder, ttl(given)));
  }

  @Override
  public <T> ListState<T> getListState(String name, TTLConfig given, Encoder<T> encoder) {
    return opened(name, handle.getListState(name(name), encoder, ttl(given)));
  }

  @Override
  public <K, V> MapState<K, V> getMapState(
      String name, Encoder<K> keys, Encoder<V> values, TTLConfig given) {
    return opened(name, handle.getMapState(name(name), keys, values, ttl(given)));
  }

  @Override
  public <K, V> MapState<K, V> getMapState(
      String name, TTLConfig given, Encoder<K> keys, Encoder<V> values) {
    return opened(name, handle.getMapState(name(name), keys, values, ttl(given)));
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
    handle.deleteIfExists(name(name));
  }
}
