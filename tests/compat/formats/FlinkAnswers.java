import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Scanner;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.formats.avro.AvroFormatOptions.AvroEncoding;
import org.apache.flink.formats.avro.AvroRowDataDeserializationSchema;
import org.apache.flink.formats.avro.AvroRowDataSerializationSchema;
import org.apache.flink.formats.avro.typeutils.AvroSchemaConverter;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.JsonFormatOptions;
import org.apache.flink.formats.json.JsonParserRowDataDeserializationSchema;
import org.apache.flink.formats.json.JsonRowDataDeserializationSchema;
import org.apache.flink.formats.json.JsonRowDataSerializationSchema;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.util.Collector;

/**
 * What a real Flink makes of each case: reads cases as lines of JSON, writes each with its answer.
 * Started by record.py with Flink's jars; no part of the product.
 */
public final class FlinkAnswers {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8);
    while (lines.hasNextLine()) {
      ObjectNode test = (ObjectNode) MAPPER.readTree(lines.nextLine());
      ObjectNode answer = test.putObject("answer");
      try {
        answer(test, answer);
      } catch (Throwable t) {
        Throwable cause = t;
        while (cause.getCause() != null) {
          cause = cause.getCause();
        }
        answer.put("error", shorten(cause.getClass().getSimpleName() + ": " + cause.getMessage()));
      }
      System.out.println(MAPPER.writeValueAsString(test));
    }
  }

  private static void answer(JsonNode test, ObjectNode answer) throws Exception {
    ClassLoader loader = FlinkAnswers.class.getClassLoader();
    RowType type = (RowType) LogicalTypeParser.parse(test.get("type").asText(), loader);
    JsonNode options = test.get("options");
    boolean legacy = flag(options, "timestamp_mapping.legacy", true);
    byte[] value = Base64.getDecoder().decode(test.get("value").asText());
    JsonRowDataSerializationSchema json = jsonOut(type, options);
    json.open(null);

    List<RowData> rows = new ArrayList<>();
    if (test.get("format").asText().equals("avro")) {
      rows.add(avroIn(type, legacy).deserialize(value));
    } else {
      DeserializationSchema<RowData> decoder = jsonIn(type, options);
      decoder.open(null);
      decoder.deserialize(value, collector(rows));
    }
    List<String> texts = new ArrayList<>();
    for (RowData row : rows) {
      texts.add(new String(json.serialize(row), StandardCharsets.UTF_8));
    }
    answer.set("json", MAPPER.valueToTree(texts));
    if (rows.size() == 1) {
      avro(type, legacy, rows.get(0), answer);
    }
  }

  private static void avro(RowType type, boolean legacy, RowData row, ObjectNode answer) {
    try {
      answer.put("avro_schema", AvroSchemaConverter.convertToSchema(type, legacy).toString());
      AvroRowDataSerializationSchema avro =
          new AvroRowDataSerializationSchema(type, AvroEncoding.BINARY, legacy);
      avro.open(null);
      answer.put("avro", Base64.getEncoder().encodeToString(avro.serialize(row)));
      AvroRowDataSerializationSchema text =
          new AvroRowDataSerializationSchema(type, AvroEncoding.JSON, legacy);
      text.open(null);
      answer.put("avro_json", new String(text.serialize(row), StandardCharsets.UTF_8));
    } catch (Throwable t) {
      answer.put("avro_error", shorten(t.getMessage()));
    }
  }

  private static DeserializationSchema<RowData> jsonIn(RowType type, JsonNode options) {
    InternalTypeInfo<RowData> info = InternalTypeInfo.of(type);
    boolean missing = flag(options, "fail-on-missing-field", false);
    boolean ignore = flag(options, "ignore-parse-errors", false);
    if (flag(options, "decode.json-parser.enabled", true)) {
      return new JsonParserRowDataDeserializationSchema(type, info, missing, ignore, times(options));
    }
    return new JsonRowDataDeserializationSchema(type, info, missing, ignore, times(options));
  }

  private static JsonRowDataSerializationSchema jsonOut(RowType type, JsonNode options) {
    return new JsonRowDataSerializationSchema(
        type,
        times(options),
        JsonFormatOptions.MapNullKeyMode.FAIL,
        "null",
        flag(options, "encode.decimal-as-plain-number", false),
        flag(options, "encode.ignore-null-fields", false));
  }

  private static AvroRowDataDeserializationSchema avroIn(RowType type, boolean legacy)
      throws Exception {
    AvroRowDataDeserializationSchema avro =
        new AvroRowDataDeserializationSchema(
            type, InternalTypeInfo.of(type), AvroEncoding.BINARY, legacy);
    avro.open(null);
    return avro;
  }

  private static TimestampFormat times(JsonNode options) {
    boolean iso = options.path("timestamp-format.standard").asText().equals("ISO-8601");
    return iso ? TimestampFormat.ISO_8601 : TimestampFormat.SQL;
  }

  private static boolean flag(JsonNode options, String name, boolean otherwise) {
    return options.has(name) ? options.get(name).asText().equals("true") : otherwise;
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

  private static String shorten(String text) {
    return text == null || text.length() <= 200 ? text : text.substring(0, 200);
  }
}
