package io.streamtable.operators.state;

import java.lang.reflect.Field;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.StateTypesEncoder;
import org.apache.spark.sql.execution.streaming.state.StateStore;

/**
 * What a state variable of Spark consists of.
 *
 * @param store all variables of the operator in a task
 * @param name of the variable in the store
 * @param encoder of keys and values
 */
record SparkVariable(StateStore store, String name, StateTypesEncoder<?> encoder) {
  /**
   * Returns the parts of a variable.
   *
   * @param type Spark's class of the variable
   * @throws ReflectiveOperationException if this version of Spark has other variables
   */
  static SparkVariable of(Object variable, Class<?> type) throws ReflectiveOperationException {
    return new SparkVariable(
        (StateStore) field(variable, type, "store"),
        (String) field(variable, type, "stateName"),
        (StateTypesEncoder<?>) field(variable, type, "stateTypesEncoder"));
  }

  private static Object field(Object variable, Class<?> type, String name)
      throws ReflectiveOperationException {
    Field field = type.getDeclaredField(name);
    field.setAccessible(true);
    return field.get(variable);
  }
}
