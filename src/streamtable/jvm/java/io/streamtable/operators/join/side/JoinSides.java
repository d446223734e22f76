package io.streamtable.operators.join.side;

import java.io.Serializable;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;

/** The state of both inputs of a join. */
public interface JoinSides extends Serializable {
  JoinSide left();

  JoinSide right();

  void open(StatefulProcessorHandle handle);

  /** Moves to another join key. */
  void begin();

  /** Writes what has changed since {@link #begin}, unless it is written. */
  void end();
}
