package io.streamtable.operators.state;

import java.time.Duration;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.QueryInfo;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;

/** State whose values, or map entries, expire a TTL after their last write. */
public final class ExpiringState implements StatefulProcessorHandle {
  private final StatefulProcessorHandle handle;
  private final TTLConfig ttl;

  private ExpiringState(StatefulProcessorHandle handle, long millis) {
    this.handle = handle;
    this.ttl = new TTLConfig(Duration.ofMillis(millis));
  }

  /**
   * Wraps a handle so that its state expires.
   *
   * @param millis how long a value outlives its last write; 0 if values do not expire
   */
  public static StatefulProcessorHandle of(StatefulProcessorHandle handle, long millis) {
    return millis == 0 ? handle : new ExpiringState(handle, millis);
  }

  @Override
  public <T> ValueState<T> getValueState(String name, Encoder<T> encoder, TTLConfig own) {
    return handle.getValueState(name, encoder, ttl);
  }

  @Override
  public <T> ValueState<T> getValueState(String name, TTLConfig own, Encoder<T> encoder) {
    return handle.getValueState(name, encoder, ttl);
  }

  @Override
  public <T> ListState<T> getListState(String name, Encoder<T> encoder, TTLConfig own) {
    return handle.getListState(name, encoder, ttl);
  }

  @Override
  public <T> ListState<T> getListState(String name, TTLConfig own, Encoder<T> encoder) {
    return handle.getListState(name, encoder, ttl);
  }

  @Override
  public <K, V> MapState<K, V> getMapState(
      String name, Encoder<K> keys, Encoder<V> values, TTLConfig own) {
    return handle.getMapState(name, keys, values, ttl);
  }

  @Override
  public <K, V> MapState<K, V> getMapState(
      String name, TTLConfig own, Encoder<K> keys, Encoder<V> values) {
    return handle.getMapState(name, keys, values, ttl);
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
  public scala.collection.Iterator<Object> listTimers() {
    return handle.listTimers();
  }

  @Override
  public void deleteIfExists(String name) {
    handle.deleteIfExists(name);
  }
}
