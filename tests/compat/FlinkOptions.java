import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.FallbackKey;
import org.apache.flink.util.TimeUtils;

/**
 * Every option that the classes of a Flink declare, one a line: key, default, older keys and the
 * class that declares it, with tabs between. Arguments: its jars, which are the class path, too.
 */
public class FlinkOptions {
  public static void main(String[] jars) throws Exception {
    TreeMap<String, String> found = new TreeMap<>();
    for (String jar : jars) {
      List<String> names = new ArrayList<>();
      try (JarFile file = new JarFile(jar)) {
        file.stream().map(entry -> entry.getName()).forEach(names::add);
      }
      for (String name : names) {
        if (name.matches("org/apache/flink/.*\\.class")
            && !name.contains("/shaded/")) {
          declared(name.substring(0, name.length() - 6).replace('/', '.'), found);
        }
      }
    }
    found.values().forEach(System.out::println);
  }

  private static void declared(String name, TreeMap<String, String> found) {
    Field[] fields;
    try {
      Class<?> declaring = Class.forName(name, false, FlinkOptions.class.getClassLoader());
      fields = declaring.getDeclaredFields();
    } catch (Throwable unusable) { // of a library that is not there
      return;
    }
    for (Field field : fields) {
      boolean ofClass = Modifier.isStatic(field.getModifiers());
      if (field.getType() == ConfigOption.class && (ofClass || name.endsWith("$"))) {
        try {
          field.setAccessible(true);
          Object owner = ofClass ? null : field.getDeclaringClass().getField("MODULE$").get(null);
          ConfigOption<?> option = (ConfigOption<?>) field.get(owner);
          if (option != null) {
            found.putIfAbsent(
                option.key() + "\t" + name,
                String.join("\t", option.key(), text(option.defaultValue()), older(option), name));
          }
        } catch (Throwable unusable) {
          System.err.println(name + "." + field.getName() + ": " + unusable);
        }
      }
    }
  }

  private static String older(ConfigOption<?> option) {
    return StreamSupport.stream(option.fallbackKeys().spliterator(), false)
        .map(FallbackKey::getKey)
        .collect(Collectors.joining(","));
  }

  private static String text(Object value) {
    if (value == null) {
      return "";
    }
    if (value instanceof Duration duration) {
      return TimeUtils.formatWithHighestUnit(duration);
    }
    if (value instanceof Collection<?> many) {
      return many.stream().map(FlinkOptions::text).collect(Collectors.joining(";"));
    }
    return String.valueOf(value).replaceAll("\\s+", " ");
  }
}
