package io.streamtable.userfunctions;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** An instance of a user's function, opened. One thread uses it. */
final class OpenFunction {
  private final Signature signature;
  private final DataType[] types;
  private final DataType result;
  private final Object function;
  private final MethodHandle eval;
  private final Class<?>[] in;
  private final Class<?> spreadOf;
  private final ExternalValues external;
  private final InternalValues internal;
  private final List<Object> collected = new ArrayList<>();

  OpenFunction(Signature signature, DataType[] types, DataType result) {
    this.signature = signature;
    this.types = types;
    this.result = result;
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    external = new ExternalValues(loader);
    internal = new InternalValues(external);
    try {
      Class<?> owner = Class.forName(signature.className(), true, loader);
      function = owner.getConstructor().newInstance();
      Method method = owner.getMethod("eval", classes(signature.parameters(), loader));
      method.setAccessible(true);
      spreadOf =
          signature.spread()
              ? method.getParameterTypes()[method.getParameterCount() - 1].componentType()
              : null;
      eval =
          MethodHandles.lookup()
              .unreflect(method)
              .bindTo(function)
              .asFixedArity()
              .asSpreader(Object[].class, method.getParameterCount());
      in = classes(signature.in(), loader);
      if (signature.table()) {
        collectInto(owner, loader);
      }
      Method opening = Opening.method(owner, loader);
      if (opening != null) {
        opening.invoke(function, Opening.context(opening.getParameterTypes()[0], loader));
      }
    } catch (Throwable error) {
      throw fault(error);
    }
  }

  /** Calls `eval`, and converts the arguments and the result. */
  Object call(InternalRow arguments) {
    try {
      Object[] passed = new Object[types.length];
      for (int i = 0; i < passed.length; i++) {
        Class<?> wanted = in.length == 0 ? null : in[Math.min(i, in.length - 1)];
        passed[i] = external.of(arguments.get(i, types[i]), types[i], wanted);
      }
      Object returned = eval.invoke(spreadOf == null ? passed : spread(passed));
      return signature.table() ? rows() : internal.of(returned, result);
    } catch (Throwable error) {
      throw fault(error);
    }
  }

  /** Calls `close` of the function. */
  void close() {
    try {
      function.getClass().getMethod("close").invoke(function);
    } catch (ReflectiveOperationException error) {
      throw fault(error);
    }
  }

  private Object[] spread(Object[] passed) {
    int fixed = signature.parameters().size() - 1;
    Object rest = Array.newInstance(spreadOf, passed.length - fixed);
    for (int i = fixed; i < passed.length; i++) {
      Array.set(rest, i - fixed, passed[i]);
    }
    Object[] found = new Object[fixed + 1];
    System.arraycopy(passed, 0, found, 0, fixed);
    found[fixed] = rest;
    return found;
  }

  private void collectInto(Class<?> owner, ClassLoader loader) throws ReflectiveOperationException {
    Class<?> collector = Class.forName("org.apache.flink.util.Collector", true, loader);
    Object ours =
        Proxy.newProxyInstance(
            loader,
            new Class<?>[] {collector},
            (proxy, method, arguments) -> {
              if (method.getName().equals("collect")) {
                collected.add(arguments[0]);
              }
              return null;
            });
    owner.getMethod("setCollector", collector).invoke(function, ours);
  }

  /** Returns the collected rows; a value that is no row is a row of one column. */
  private GenericArrayData rows() throws Throwable {
    StructType row = (StructType) ((ArrayType) result).elementType();
    Object[] found = new Object[collected.size()];
    for (int i = 0; i < found.length; i++) {
      Object value = collected.get(i);
      boolean isRow =
          value != null && value.getClass().getName().equals("org.apache.flink.types.Row");
      found[i] =
          isRow
              ? internal.of(value, row)
              : new GenericInternalRow(
                  new Object[] {internal.of(value, row.apply(0).dataType())});
    }
    collected.clear();
    return new GenericArrayData(found);
  }

  private FunctionException fault(Throwable error) {
    if (error instanceof FunctionException known) {
      return known;
    }
    boolean called = error instanceof java.lang.reflect.InvocationTargetException;
    Throwable cause = called && error.getCause() != null ? error.getCause() : error;
    return FunctionException.of(signature.name(), signature.className(), cause);
  }

  private static Class<?>[] classes(List<String> names, ClassLoader loader)
      throws ClassNotFoundException {
    Class<?>[] found = new Class<?>[names.size()];
    for (int i = 0; i < found.length; i++) {
      found[i] = names.get(i).isEmpty() ? null : classOf(names.get(i), loader);
    }
    return found;
  }

  private static Class<?> classOf(String name, ClassLoader loader) throws ClassNotFoundException {
    for (Class<?> primitive :
        List.<Class<?>>of(
            boolean.class, byte.class, short.class, int.class, long.class, float.class,
            double.class)) {
      if (primitive.getName().equals(name)) {
        return primitive;
      }
    }
    return Class.forName(name, true, loader);
  }
}
