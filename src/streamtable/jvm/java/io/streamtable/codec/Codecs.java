package io.streamtable.codec;

import io.streamtable.codec.registry.RegistryFault;
import java.lang.reflect.InvocationTargetException;
import java.util.HashMap;
import java.util.Map;

/**
 * Creates codecs by their class name below this package, which the format's declaration in Python
 * gives.
 */
public final class Codecs {
  private Codecs() {}

  /** Creates a decoder for columns in Spark DDL. */
  public static Decoder decoder(String name, String schemaDdl, Map<String, String> parameters) {
    return create(Decoder.class, name, schemaDdl, parameters);
  }

  /** Creates a decoder of change events for columns in Spark DDL. */
  public static ChangeDecoder changeDecoder(
      String name, String schemaDdl, Map<String, String> parameters) {
    return create(ChangeDecoder.class, name, schemaDdl, parameters);
  }

  /** Creates an encoder for columns in Spark DDL. */
  public static Encoder encoder(String name, String schemaDdl, Map<String, String> parameters) {
    return create(Encoder.class, name, schemaDdl, parameters);
  }

  /**
   * Calls the static method {@code check} of an encoder that registers a schema: it throws the
   * errors of the registry that creating the encoder would throw, and registers nothing.
   */
  public static void checkSchema(String name, Map<String, String> parameters) {
    try {
      Class<?> found = Class.forName(Codecs.class.getPackageName() + "." + name);
      found.getMethod("check", Map.class).invoke(null, parameters);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException fault) {
        throw fault;
      }
      throw new IllegalArgumentException(name, e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException("no check of codec " + name, e);
    }
  }

  private static <T> T create(
      Class<T> kind, String name, String schemaDdl, Map<String, String> parameters) {
    try {
      Class<? extends T> found =
          Class.forName(Codecs.class.getPackageName() + "." + name).asSubclass(kind);
      // Copy: the map from Python may be a py4j view that cannot be serialized to a task.
      return found
          .getConstructor(String.class, Map.class)
          .newInstance(schemaDdl, new HashMap<>(parameters));
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RegistryFault fault) {
        throw fault; // Python recognises it by its condition
      }
      if (e.getCause() instanceof SchemaFault fault) {
        throw fault;
      }
      String simple = name.substring(name.lastIndexOf('.') + 1);
      throw new IllegalArgumentException(simple + ": " + e.getCause().getMessage(), e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException("no codec " + name, e);
    }
  }
}
