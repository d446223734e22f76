package io.streamtable.userfunctions;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Set;

/** Creates and reads `org.apache.flink.types.Row`, whose class comes from the user's jars. */
final class FlinkRows {
  private final MethodHandle create;
  private final MethodHandle arity;
  private final MethodHandle byPosition;
  private final MethodHandle byName;
  private final MethodHandle names;
  private final Object insert;

  /** Finds the classes through the class loader of the function. */
  FlinkRows(ClassLoader loader) throws ReflectiveOperationException {
    Class<?> row = Class.forName("org.apache.flink.types.Row", true, loader);
    Class<?> kind = Class.forName("org.apache.flink.types.RowKind", true, loader);
    Class<?> utils = Class.forName("org.apache.flink.types.RowUtils", true, loader);
    MethodHandles.Lookup lookup = MethodHandles.publicLookup();
    Method named =
        utils.getMethod(
            "createRowWithNamedPositions", kind, Object[].class, LinkedHashMap.class);
    create = lookup.unreflect(named);
    arity = lookup.unreflect(row.getMethod("getArity"));
    byPosition = lookup.unreflect(row.getMethod("getField", int.class));
    byName = lookup.unreflect(row.getMethod("getField", String.class));
    names = lookup.unreflect(row.getMethod("getFieldNames", boolean.class));
    insert = kind.getField("INSERT").get(null);
  }

  /** Returns a row whose fields have positions and names, as Flink passes a ROW. */
  Object row(Object[] values, LinkedHashMap<String, Integer> positions) throws Throwable {
    return create.invoke(insert, values, positions);
  }

  /** Returns the values of a row in the order of the declared names. */
  Object[] values(Object row, String[] declared) throws Throwable {
    // Null for a row that has positions only. A row with names may lack fields, which are null.
    Set<?> given = (Set<?>) names.invoke(row, false);
    int count = (int) arity.invoke(row);
    if (given == null && count != declared.length) {
      throw new IllegalArgumentException(
          "a row has " + count + " fields, its type has " + declared.length);
    }
    Object[] found = new Object[declared.length];
    for (int i = 0; i < found.length; i++) {
      if (given == null) {
        found[i] = byPosition.invoke(row, i);
      } else if (given.contains(declared[i])) {
        found[i] = byName.invoke(row, declared[i]);
      }
    }
    return found;
  }
}
