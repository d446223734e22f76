import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Iterator;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.factories.CatalogFactory;
import org.apache.flink.table.factories.DecodingFormatFactory;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.EncodingFormatFactory;
import org.apache.flink.table.factories.Factory;

/**
 * Every connector, format and catalog on the class path with its options, one a line: kind, name,
 * key and default, with tabs between. One without options has a line without key.
 */
public class FlinkFactories {
  public static void main(String[] args) {
    List<String> lines = new ArrayList<>();
    Iterator<Factory> factories = ServiceLoader.load(Factory.class).iterator();
    while (true) {
      try {
        if (!factories.hasNext()) {
          break;
        }
        described(factories.next(), lines);
      } catch (ServiceConfigurationError | NoClassDefFoundError unusable) { // needs another library
        System.err.println(unusable);
      }
    }
    Collections.sort(lines);
    lines.forEach(System.out::println);
  }

  private static void described(Factory factory, List<String> lines) {
    String kind =
        factory instanceof DynamicTableFactory
            ? "connector"
            : factory instanceof DecodingFormatFactory || factory instanceof EncodingFormatFactory
                ? "format"
                : factory instanceof CatalogFactory ? "catalog" : null;
    if (kind == null) {
      return;
    }
    String begin = kind + "\t" + factory.factoryIdentifier();
    List<ConfigOption<?>> options = new ArrayList<>(factory.requiredOptions());
    options.addAll(factory.optionalOptions());
    if (options.isEmpty()) {
      lines.add(begin);
    }
    for (ConfigOption<?> option : options) {
      lines.add((begin + "\t" + option.key() + "\t" + text(option.defaultValue())).stripTrailing());
    }
  }

  private static String text(Object value) {
    return value == null ? "" : String.valueOf(value).replaceAll("\\s+", " ");
  }
}
