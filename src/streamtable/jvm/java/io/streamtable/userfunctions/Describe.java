package io.streamtable.userfunctions;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Describes a class with a user-defined function of Flink: its kind and the signatures of its
 * methods, as JSON for the planner, which has no JVM.
 *
 * <p>`java -cp ... io.streamtable.userfunctions.Describe com.example.F` prints one object. With
 * "error" the function cannot be used; "lacking" is then the missing class, if one is missing.
 */
public final class Describe {
  private static final String FUNCTIONS = "org.apache.flink.table.functions.";

  private Describe() {}

  /** Prints the description of the class that the argument names. */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err); // a constructor may print
    out.println(new ObjectMapper().writeValueAsString(described(arguments[0])));
    out.flush();
    System.exit(0); // a constructor may start threads
  }

  private static Map<String, Object> described(String name) {
    try {
      return description(Class.forName(name));
    } catch (ClassNotFoundException error) {
      return lacking(name);
    } catch (NoClassDefFoundError error) {
      return lacking(String.valueOf(error.getMessage()).replace('/', '.'));
    } catch (TypeNotPresentException error) {
      return lacking(error.typeName());
    } catch (UnusableException error) {
      return Map.of("error", error.getMessage());
    } catch (ReflectiveOperationException | LinkageError | RuntimeException error) {
      Throwable cause = error.getCause() == null ? error : error.getCause();
      return Map.of("error", "it cannot be created: " + cause);
    }
  }

  private static Map<String, Object> lacking(String name) {
    return Map.of("error", "class " + name + " is missing", "lacking", name);
  }

  private static Map<String, Object> description(Class<?> function)
      throws ReflectiveOperationException {
    String kind = kind(function);
    if (Modifier.isAbstract(function.getModifiers())
        || !Modifier.isPublic(function.getModifiers())) {
      throw new UnusableException("its class must be public and not abstract");
    }
    if (function.isMemberClass() && !Modifier.isStatic(function.getModifiers())) {
      throw new UnusableException("its class is inside another class and not static");
    }
    Class<?> inference = function.getMethod("getTypeInference", typeFactory(function)).getDeclaringClass();
    if (!inference.getName().startsWith(FUNCTIONS)) {
      throw new UnusableException("it overrides getTypeInference; declare its types with hints");
    }
    Object instance = function.getConstructor().newInstance();
    Method opening = Opening.method(function, function.getClassLoader());
    if (opening != null) { // now, because it needs more jars
      Opening.context(opening.getParameterTypes()[0], function.getClassLoader());
    }
    Map<String, Object> found = new LinkedHashMap<>();
    found.put("kind", kind);
    found.put("deterministic", function.getMethod("isDeterministic").invoke(instance));
    found.put("overloads", new Signatures(function, kind.equals("TABLE")).of(methods(function)));
    return found;
  }

  /** Returns the type of the only parameter of `getTypeInference`. */
  private static Class<?> typeFactory(Class<?> function) {
    for (Method method : function.getMethods()) {
      if (method.getName().equals("getTypeInference") && method.getParameterCount() == 1) {
        return method.getParameterTypes()[0];
      }
    }
    throw new UnusableException("it has no method getTypeInference");
  }

  private static String kind(Class<?> function) {
    for (Class<?> above = function; above != null; above = above.getSuperclass()) {
      if (above.getName().startsWith(FUNCTIONS)) {
        String name = above.getSimpleName();
        switch (name) {
          case "ScalarFunction":
            return "SCALAR";
          case "TableFunction":
            return "TABLE";
          default:
            throw new UnusableException(
                "it is a subclass of " + name + "; only ScalarFunction and TableFunction run here");
        }
      }
    }
    throw new UnusableException("it is not a subclass of ScalarFunction or TableFunction");
  }

  /** Returns the public methods `eval` in the order in which Flink tries them. */
  private static List<Method> methods(Class<?> function) {
    List<Method> found =
        Arrays.stream(function.getMethods())
            .filter(method -> method.getName().equals("eval") && !method.isBridge())
            .sorted(Comparator.comparing(Method::toString))
            .toList();
    if (found.isEmpty()) {
      throw new UnusableException("it has no public method 'eval'");
    }
    if (found.stream().anyMatch(method -> Modifier.isStatic(method.getModifiers()))) {
      throw new UnusableException("its method 'eval' is static");
    }
    return found;
  }
}
