package io.streamtable.userfunctions;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Reads Flink's annotations by name. Nothing here is compiled against Flink, whose classes come
 * from the user's jars.
 */
final class Hints {
  private static final String PACKAGE = "org.apache.flink.table.annotation.";

  private Hints() {}

  /** The types of one `@DataTypeHint`: the text of the type, or any type; the class of values. */
  record TypeHint(String type, boolean any, Class<?> bridgedTo) {}

  /** One `@FunctionHint`; null for a part that it does not declare. */
  record FunctionHint(List<TypeHint> input, boolean variadic, TypeHint output) {}

  /** Returns the `@DataTypeHint` of an element, or null. */
  static TypeHint typeHint(Annotation[] annotations) {
    for (Annotation annotation : annotations) {
      if (is(annotation, "DataTypeHint")) {
        return typeHint(annotation);
      }
      if (is(annotation, "ArgumentHint")) {
        return typeHint((Annotation) value(annotation, "type"));
      }
    }
    return null;
  }

  /** Returns the `@FunctionHint`s of a class or method. */
  static List<FunctionHint> functionHints(AnnotatedElement element) {
    List<FunctionHint> found = new ArrayList<>();
    for (Annotation annotation : element.getAnnotations()) {
      if (is(annotation, "FunctionHint")) {
        found.add(functionHint(annotation));
      } else if (is(annotation, "FunctionHints")) {
        for (Annotation one : (Annotation[]) value(annotation, "value")) {
          found.add(functionHint(one));
        }
      }
    }
    return found;
  }

  private static FunctionHint functionHint(Annotation hint) {
    Object output = given(hint, "output");
    return new FunctionHint(
        input(hint),
        (boolean) value(hint, "isVarArgs"),
        output == null ? null : typeHint((Annotation) output));
  }

  private static List<TypeHint> input(Annotation hint) {
    Object input = given(hint, "input");
    if (input != null) {
      return Arrays.stream((Annotation[]) input).map(Hints::typeHint).toList();
    }
    for (String name : List.of("arguments", "argument")) { // since Flink 1.20
      Object arguments = given(hint, name);
      if (arguments instanceof Annotation[] several) {
        return Arrays.stream(several)
            .map(argument -> typeHint((Annotation) value(argument, "type")))
            .toList();
      }
    }
    return null;
  }

  private static TypeHint typeHint(Annotation hint) {
    String type = (String) value(hint, "value");
    boolean any = value(hint, "inputGroup").toString().equals("ANY");
    Class<?> bridgedTo = (Class<?>) value(hint, "bridgedTo");
    return new TypeHint(
        type.isEmpty() ? null : type, any, bridgedTo == void.class ? null : bridgedTo);
  }

  private static boolean is(Annotation annotation, String name) {
    return annotation.annotationType().getName().equals(PACKAGE + name);
  }

  private static Object value(Annotation annotation, String name) {
    try {
      return annotation.annotationType().getMethod(name).invoke(annotation);
    } catch (ReflectiveOperationException error) {
      throw new UnusableException(annotation.annotationType().getName() + " has no " + name + "()");
    }
  }

  /** Returns the value of an annotation's element, or null if it is the default or missing. */
  private static Object given(Annotation annotation, String name) {
    try {
      Object fallback = annotation.annotationType().getMethod(name).getDefaultValue();
      Object value = value(annotation, name);
      return Objects.deepEquals(value, fallback) ? null : value;
    } catch (NoSuchMethodException error) {
      return null;
    }
  }
}
