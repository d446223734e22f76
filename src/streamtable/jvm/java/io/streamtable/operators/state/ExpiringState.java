package io.streamtable.operators.state;

import java.time.Duration;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;

/** State whose values, or map entries, expire a TTL after their last write. */
public final class ExpiringState extends WrappedState {
  private final TTLConfig ttl;

  private ExpiringState(StatefulProcessorHandle handle, long millis) {
    super(handle);
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
  TTLConfig ttl(TTLConfig given) {
    return ttl;
  }
}
