package io.streamtable.codec;

import java.lang.reflect.InvocationTargetException;
import java.util.HashMap;
import java.util.Map;

/** Codecs by the simple name that the format's declaration in Python gives. */
public final class Codecs {
  private Codecs() {}

  /** A decoder for columns given as Spark DDL. */
  public static Decoder decoder(String name, String schemaDdl, Map<String, String> parameters) {
    return create(Decoder.class, name, schemaDdl, parameters);
  }

  /** A decoder of change events over such columns. */
  public static ChangeDecoder changeDecoder(
      String name, String schemaDdl, Map<String, String> parameters) {
    return create(ChangeDecoder.class, name, schemaDdl, parameters);
  }

  /** An encoder for columns given as Spark DDL. */
  public static Encoder encoder(String name, String schemaDdl, Map<String, String> parameters) {
    return create(Encoder.class, name, schemaDdl, parameters);
  }

  private static <T> T create(
      Class<T> kind, String name, String schemaDdl, Map<String, String> parameters) {
    try {
      Class<? extends T> found =
          Class.forName(Codecs.class.getPackageName() + "." + name).asSubclass(kind);
      // A copy: what Python hands over may be a view of its own that does not travel to a task.
      return found
          .getConstructor(String.class, Map.class)
          .newInstance(schemaDdl, new HashMap<>(parameters));
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RegistryFault fault) {
        throw fault; // Python tells it by its condition
      }
      throw new IllegalArgumentException(name + ": " + e.getCause().getMessage(), e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException("no codec " + name, e);
    }
  }
}
