package io.streamtable.userfunctions;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;

/** The method `open` of a function. It needs no Spark, because {@link Describe} has none. */
final class Opening {
  private static final String API = "org.apache.flink.table.functions.";

  private Opening() {}

  /** Returns the method `open` of a class, or null if it is Flink's, which does nothing. */
  static Method method(Class<?> owner, ClassLoader loader) throws ReflectiveOperationException {
    Class<?> context = Class.forName(API + "FunctionContext", true, loader);
    Method found = owner.getMethod("open", context);
    return found.getDeclaringClass().getName().startsWith(API) ? null : found;
  }

  /** Returns a context that knows no task of Flink. */
  static Object context(Class<?> type, ClassLoader loader) throws ReflectiveOperationException {
    Constructor<?> create = type.getConstructors()[0];
    for (Constructor<?> other : type.getConstructors()) {
      if (other.getParameterCount() > create.getParameterCount()) {
        create = other;
      }
    }
    Object[] arguments = new Object[create.getParameterCount()];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = create.getParameterTypes()[i] == ClassLoader.class ? loader : null;
    }
    return create.newInstance(arguments);
  }
}
