import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.JsonFormatOptions.MapNullKeyMode;
import org.apache.flink.formats.json.JsonRowDataSerializationSchema;
import org.apache.flink.formats.json.canal.CanalJsonDecodingFormat;
import org.apache.flink.formats.json.canal.CanalJsonSerializationSchema;
import org.apache.flink.formats.json.debezium.DebeziumJsonDecodingFormat;
import org.apache.flink.formats.json.debezium.DebeziumJsonSerializationSchema;
import org.apache.flink.formats.json.maxwell.MaxwellJsonDecodingFormat;
import org.apache.flink.formats.json.maxwell.MaxwellJsonSerializationSchema;
import org.apache.flink.formats.json.ogg.OggJsonDecodingFormat;
import org.apache.flink.formats.json.ogg.OggJsonSerializationSchema;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.connector.format.DecodingFormat;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.connector.source.ScanRuntimeProviderContext;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.table.types.utils.TypeConversions;
import org.apache.flink.util.Collector;

/**
 * What a real Flink makes of change events: reads cases as lines of JSON, writes each with its
 * answer. Started by record_changes.py with Flink's jars; no part of the product.
 */
public final class ChangeAnswers {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8);
    while (lines.hasNextLine()) {
      ObjectNode test = (ObjectNode) MAPPER.readTree(lines.nextLine());
      ObjectNode answer = test.putObject("answer");
      try {
        answer(test, answer);
      } catch (Throwable t) {
        answer.removeAll();
        answer.put("error", reason(t));
      }
      System.out.println(MAPPER.writeValueAsString(test));
    }
  }

  private static void answer(JsonNode test, ObjectNode answer) throws Exception {
    ClassLoader loader = ChangeAnswers.class.getClassLoader();
    RowType type = (RowType) LogicalTypeParser.parse(test.get("type").asText(), loader);
    JsonNode options = test.get("options");
    DecodingFormat<DeserializationSchema<RowData>> format =
        decoding(test.get("format").asText(), options);
    List<String> keys = new ArrayList<>();
    test.get("metadata").forEach(key -> keys.add(key.asText()));
    RowType produced = withMetadata(type, keys, format.listReadableMetadata());
    format.applyReadableMetadata(keys);
    DeserializationSchema<RowData> decoder =
        format.createRuntimeDecoder(
            ScanRuntimeProviderContext.INSTANCE, TypeConversions.fromLogicalToDataType(type));
    decoder.open(null);
    List<RowData> rows = new ArrayList<>();
    decoder.deserialize(Base64.getDecoder().decode(test.get("value").asText()), collector(rows));

    JsonRowDataSerializationSchema json =
        new JsonRowDataSerializationSchema(
            produced, times(options), MapNullKeyMode.FAIL, "null", false, false);
    json.open(null);
    SerializationSchema<RowData> encoder = encoder(test.get("format").asText(), type, options);
    encoder.open(null);
    ArrayNode found = answer.putArray("rows");
    for (RowData row : rows) {
      ObjectNode change = found.addObject();
      change.put("kind", row.getRowKind().shortString());
      change.put("json", new String(json.serialize(row), StandardCharsets.UTF_8));
      if (keys.isEmpty()) {
        change.put("event", new String(encoder.serialize(row), StandardCharsets.UTF_8));
      }
    }
  }

  private static DecodingFormat<DeserializationSchema<RowData>> decoding(
      String name, JsonNode options) {
    boolean ignore = flag(options, "ignore-parse-errors");
    return switch (name) {
      case "debezium-json" ->
          new DebeziumJsonDecodingFormat(flag(options, "schema-include"), ignore, times(options));
      case "canal-json" ->
          new CanalJsonDecodingFormat(
              text(options, "database.include"),
              text(options, "table.include"),
              ignore,
              times(options));
      case "ogg-json" -> new OggJsonDecodingFormat(ignore, times(options));
      default -> new MaxwellJsonDecodingFormat(ignore, times(options));
    };
  }

  private static SerializationSchema<RowData> encoder(String name, RowType type, JsonNode options) {
    boolean plain = flag(options, "encode.decimal-as-plain-number");
    boolean short_ = flag(options, "encode.ignore-null-fields");
    TimestampFormat times = times(options);
    MapNullKeyMode keys = MapNullKeyMode.FAIL;
    return switch (name) {
      case "debezium-json" ->
          new DebeziumJsonSerializationSchema(type, times, keys, "null", plain, short_);
      case "canal-json" ->
          new CanalJsonSerializationSchema(type, times, keys, "null", plain, short_);
      case "ogg-json" -> new OggJsonSerializationSchema(type, times, keys, "null", plain, short_);
      default -> new MaxwellJsonSerializationSchema(type, times, keys, "null", plain, short_);
    };
  }

  private static RowType withMetadata(
      RowType type, List<String> keys, Map<String, DataType> metadata) {
    List<RowType.RowField> fields = new ArrayList<>(type.getFields());
    for (String key : keys) {
      fields.add(new RowType.RowField(key, metadata.get(key).getLogicalType()));
    }
    return new RowType(fields);
  }

  private static TimestampFormat times(JsonNode options) {
    boolean iso = options.path("timestamp-format.standard").asText().equals("ISO-8601");
    return iso ? TimestampFormat.ISO_8601 : TimestampFormat.SQL;
  }

  private static boolean flag(JsonNode options, String name) {
    return options.path(name).asText().equals("true");
  }

  private static String text(JsonNode options, String name) {
    return options.has(name) ? options.get(name).asText() : null;
  }

  private static Collector<RowData> collector(List<RowData> rows) {
    return new Collector<>() {
      @Override
      public void collect(RowData row) {
        rows.add(row);
      }

      @Override
      public void close() {}
    };
  }

  private static String reason(Throwable t) {
    Throwable cause = t;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String text = cause.getClass().getSimpleName() + ": " + cause.getMessage();
    return text.length() <= 200 ? text : text.substring(0, 200);
  }
}
