import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.FallbackKey;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.factories.DeserializationFormatFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.factories.FormatFactory;
import org.apache.flink.table.types.DataType;

/**
 * The options and the readable metadata of each format, as Flink's factories declare them. Started
 * by record_options.py with Flink's jars; no part of the product.
 */
public final class FlinkOptions {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  public static void main(String[] names) throws Exception {
    ObjectNode found = MAPPER.createObjectNode();
    for (String name : names) {
      DeserializationFormatFactory factory =
          FactoryUtil.discoverFactory(
              FlinkOptions.class.getClassLoader(), DeserializationFormatFactory.class, name);
      ObjectNode format = found.putObject(name);
      options(factory, format.putObject("options"));
      metadata(factory, format.putObject("metadata"));
    }
    System.out.println(MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(found));
  }

  private static void options(FormatFactory factory, ObjectNode out) {
    TreeMap<String, ConfigOption<?>> sorted = new TreeMap<>();
    Set<ConfigOption<?>> required = factory.requiredOptions();
    required.forEach(option -> sorted.put(option.key(), option));
    factory.optionalOptions().forEach(option -> sorted.put(option.key(), option));
    sorted.forEach(
        (key, option) -> {
          ObjectNode node = out.putObject(key);
          node.put("required", required.contains(option));
          Object value = option.hasDefaultValue() ? option.defaultValue() : null;
          node.put("default", value == null ? null : value.toString());
          List<String> fallbacks = new ArrayList<>();
          for (FallbackKey fallback : option.fallbackKeys()) {
            fallbacks.add(fallback.getKey());
          }
          node.set("fallbacks", MAPPER.valueToTree(fallbacks));
        });
  }

  /** Formats of change events keep their metadata in an enum of the decoding format. */
  private static void metadata(FormatFactory factory, ObjectNode out) throws Exception {
    String decoding = factory.getClass().getName().replace("FormatFactory", "DecodingFormat");
    Class<?> metadata;
    try {
      metadata = Class.forName(decoding + "$ReadableMetadata");
    } catch (ClassNotFoundException e) {
      return;
    }
    Field key = metadata.getDeclaredField("key");
    Field type = metadata.getDeclaredField("dataType");
    key.setAccessible(true);
    type.setAccessible(true);
    for (Object constant : metadata.getEnumConstants()) {
      String sql = ((DataType) type.get(constant)).getLogicalType().asSerializableString();
      out.put((String) key.get(constant), sql);
    }
  }
}
