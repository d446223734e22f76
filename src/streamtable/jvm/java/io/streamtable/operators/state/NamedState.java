package io.streamtable.operators.state;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.ValueState;

/** Gives access to the variables that a processor has opened, by their names. */
public final class NamedState extends WrappedState {
  private final Map<String, Object> opened = new HashMap<>();

  public NamedState(StatefulProcessorHandle handle) {
    super(handle);
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

  /** The processor and the caller share one object, which knows what either of them writes. */
  @Override
  @SuppressWarnings("unchecked")
  <T> T opened(String name, T variable) {
    T shared = variable instanceof ValueState<?> value ? (T) OrderedValue.of(value) : variable;
    opened.put(name, shared);
    return shared;
  }
}
