package io.streamtable.userfunctions;

import io.streamtable.userfunctions.Hints.FunctionHint;
import io.streamtable.userfunctions.Hints.TypeHint;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Derives the signatures of a function's methods from reflection and hints, by the rules of Flink's
 * page *User-defined Functions*, section *Type Inference*.
 *
 * <p>`@FunctionHint`s of the class and of a method hold together: complete hints replace the
 * method's own types, an input or an output alone replaces only this part.
 */
final class Signatures {
  private final Class<?> function;
  private final boolean table;

  Signatures(Class<?> function, boolean table) {
    this.function = function;
    this.table = table;
  }

  /** Returns one map per signature, in the order in which Flink tries them. */
  List<Map<String, Object>> of(List<Method> methods) {
    Map<Object, Map<String, Object>> found = new LinkedHashMap<>();
    for (Method method : methods) {
      try {
        for (Map<String, Object> one : of(method)) {
          found.putIfAbsent(List.of(types(one), one.get("variadic")), one);
        }
      } catch (UnusableException error) {
        throw new UnusableException(shown(method) + ": " + error.getMessage());
      }
    }
    return new ArrayList<>(found.values());
  }

  private static List<String> types(Map<String, Object> signature) {
    return ((List<?>) signature.get("arguments")).stream().map(String::valueOf).toList();
  }

  private List<Map<String, Object>> of(Method method) {
    List<FunctionHint> hints =
        Stream.concat(
                Hints.functionHints(function).stream(), Hints.functionHints(method).stream())
            .toList();
    List<FunctionHint> inputs =
        hints.stream().filter(h -> h.input() != null && h.output() == null).toList();
    List<TypeHint> outputs =
        hints.stream()
            .filter(h -> h.input() == null && h.output() != null)
            .map(FunctionHint::output)
            .distinct()
            .toList();
    if (outputs.size() > 1) {
      throw new UnusableException("its @FunctionHint annotations declare several outputs");
    }
    List<Map<String, Object>> found = new ArrayList<>();
    for (FunctionHint hint : hints) {
      if (hint.input() != null && hint.output() != null) {
        found.add(signature(method, hint, hint.output()));
      }
    }
    if (!outputs.isEmpty() || found.isEmpty()) {
      TypeHint output = outputs.isEmpty() ? null : outputs.get(0);
      for (FunctionHint hint : inputs.isEmpty() ? Arrays.asList((FunctionHint) null) : inputs) {
        found.add(signature(method, hint, output));
      }
    }
    return found;
  }

  private Map<String, Object> signature(Method method, FunctionHint hint, TypeHint output) {
    List<ValueType> arguments = new ArrayList<>();
    boolean variadic = hint == null ? method.isVarArgs() : hint.variadic();
    int count = hint == null ? method.getParameterCount() : hint.input().size();
    for (int i = 0; i < count; i++) {
      arguments.add(argument(method, hint == null ? null : hint.input().get(i), i));
    }
    Map<String, Object> found = new LinkedHashMap<>();
    found.put(
        "parameters", Arrays.stream(method.getParameterTypes()).map(Class::getName).toList());
    found.put("spread", method.isVarArgs());
    found.put("variadic", variadic);
    found.put("arguments", arguments.stream().map(ValueType::toMap).toList());
    found.put("result", result(method, output).toMap());
    return found;
  }

  /** Returns the type of one argument; the last parameter of a method may take several. */
  private static ValueType argument(Method method, TypeHint hint, int position) {
    int last = method.getParameterCount() - 1;
    if (position > last && !method.isVarArgs()) {
      throw new UnusableException("its @FunctionHint has more inputs than the method");
    }
    int parameter = Math.min(position, last);
    Type declared = method.getGenericParameterTypes()[parameter];
    if (method.isVarArgs() && parameter == last) {
      declared = ValueType.elementOf(declared);
    }
    TypeHint own = Hints.typeHint(method.getParameterAnnotations()[parameter]);
    return ValueType.of(declared, hint == null ? own : hint);
  }

  private ValueType result(Method method, TypeHint output) {
    TypeHint hint = output == null ? Hints.typeHint(method.getAnnotations()) : output;
    if (hint == null) {
      hint = Hints.typeHint(method.getAnnotatedReturnType().getAnnotations());
    }
    if (!table) {
      if (method.getReturnType() == void.class) {
        throw new UnusableException("it returns nothing");
      }
      return ValueType.of(method.getGenericReturnType(), hint);
    }
    return ValueType.of(collected(), hint);
  }

  /** Returns the type argument of `TableFunction` in the class. */
  private Type collected() {
    Type above = function.getGenericSuperclass();
    Class<?> at = function;
    while (at.getSuperclass() != null && !isTableFunction(at.getSuperclass())) {
      at = at.getSuperclass();
      above = at.getGenericSuperclass();
    }
    if (above instanceof ParameterizedType known
        && !(known.getActualTypeArguments()[0] instanceof TypeVariable)) {
      return known.getActualTypeArguments()[0];
    }
    return Object.class;
  }

  private static boolean isTableFunction(Class<?> above) {
    return Objects.equals(above.getName(), "org.apache.flink.table.functions.TableFunction");
  }

  private static String shown(Method method) {
    return Arrays.stream(method.getParameterTypes())
        .map(Class::getSimpleName)
        .collect(Collectors.joining(", ", method.getName() + "(", ")"));
  }
}
