package io.streamtable.operators.state;

import org.apache.spark.sql.streaming.StatefulProcessorHandle;

/** Gives the variables of one of several processors in an operator names of their own. */
public final class PrefixedState extends WrappedState {
  private final String prefix;

  /** @param number of the processor, which later runs must use again */
  public PrefixedState(StatefulProcessorHandle handle, int number) {
    super(handle);
    this.prefix = "q" + number + "_";
  }

  @Override
  String name(String given) {
    return prefix + given;
  }
}
