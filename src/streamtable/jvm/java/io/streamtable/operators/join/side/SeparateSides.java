package io.streamtable.operators.join.side;

import io.streamtable.operators.state.ExpiringState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;

/**
 * Sides with a state and a TTL each. State: "left" and "right", the current rows of each input.
 *
 * @param leftTtl see {@link ExpiringState#of}
 */
public record SeparateSides(StoredSide left, StoredSide right, long leftTtl, long rightTtl)
    implements JoinSides {
  @Override
  public void open(StatefulProcessorHandle handle) {
    left.open(ExpiringState.of(handle, leftTtl), "left");
    right.open(ExpiringState.of(handle, rightTtl), "right");
  }

  @Override
  public void begin() {
    left.begin();
    right.begin();
  }

  @Override
  public void end() {}
}
