import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Scanner;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.avro.shaded.org.apache.avro.Schema;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericDatumReader;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericDatumWriter;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.avro.shaded.org.apache.avro.io.BinaryEncoder;
import org.apache.flink.avro.shaded.org.apache.avro.io.DecoderFactory;
import org.apache.flink.avro.shaded.org.apache.avro.io.EncoderFactory;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.formats.avro.AvroRowDataDeserializationSchema;
import org.apache.flink.formats.avro.AvroToRowDataConverters;
import org.apache.flink.formats.avro.RegistryAvroDeserializationSchema;
import org.apache.flink.formats.avro.SchemaCoder;
import org.apache.flink.formats.avro.typeutils.AvroSchemaConverter;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.csv.CsvFormatFactory;
import org.apache.flink.formats.json.JsonFormatOptions;
import org.apache.flink.formats.json.JsonParserRowDataDeserializationSchema;
import org.apache.flink.formats.json.JsonRowDataSerializationSchema;
import org.apache.flink.formats.raw.RawFormatFactory;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DeserializationFormatFactory;
import org.apache.flink.table.factories.SerializationFormatFactory;
import org.apache.flink.table.runtime.connector.sink.SinkRuntimeProviderContext;
import org.apache.flink.table.runtime.connector.source.ScanRuntimeProviderContext;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.table.types.utils.TypeConversions;
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
        answer.put("error", innermost(t));
      }
      System.out.println(MAPPER.writeValueAsString(test));
    }
  }

  /** Reads the value, shows the rows as json, and writes them again in the format. */
  private static void answer(JsonNode test, ObjectNode answer) throws Exception {
    ClassLoader loader = FlinkAnswers.class.getClassLoader();
    RowType type = (RowType) LogicalTypeParser.parse(test.get("type").asText(), loader).copy(false);
    DataType dataType = TypeConversions.fromLogicalToDataType(type);
    String format = test.get("format").asText();
    Configuration options = new Configuration();
    test.get("options").fields().forEachRemaining(o -> options.setString(o.getKey(), o.getValue().asText()));
    byte[] value = Base64.getDecoder().decode(test.get("value").asText());

    List<RowData> rows = new ArrayList<>();
    DeserializationSchema<RowData> decoder;
    if (format.equals("avro-confluent")) {
      decoder = resolving(type, new Schema.Parser().parse(test.get("writer").asText()));
      value = binary(value, new Schema.Parser().parse(test.get("writer").asText()));
    } else if (test.get("from").asText().equals("json")) {
      decoder =
          new JsonParserRowDataDeserializationSchema(
              type, InternalTypeInfo.of(type), false, false, TimestampFormat.SQL);
    } else {
      decoder =
          source(format).createDecodingFormat(null, options)
              .createRuntimeDecoder(ScanRuntimeProviderContext.INSTANCE, dataType);
    }
    decoder.open(null);
    decoder.deserialize(value, collector(rows));
    List<String> texts = new ArrayList<>();
    JsonRowDataSerializationSchema json = json(type);
    json.open(null);
    for (RowData row : rows) {
      texts.add(row == null ? null : new String(json.serialize(row), StandardCharsets.UTF_8));
    }
    answer.set("json", MAPPER.valueToTree(texts));
    if (rows.size() != 1 || rows.get(0) == null || format.equals("avro-confluent")) {
      return;
    }
    try {
      SerializationSchema<RowData> encoder =
          sink(format).createEncodingFormat(null, options)
              .createRuntimeEncoder(new SinkRuntimeProviderContext(false), dataType);
      encoder.open(null);
      byte[] written = encoder.serialize(rows.get(0));
      answer.put("written", written == null ? null : Base64.getEncoder().encodeToString(written));
    } catch (Throwable t) {
      answer.put("write_error", innermost(t));
    }
  }

  private static DeserializationFormatFactory source(String format) {
    return format.equals("csv") ? new CsvFormatFactory() : new RawFormatFactory();
  }

  private static SerializationFormatFactory sink(String format) {
    return format.equals("csv") ? new CsvFormatFactory() : new RawFormatFactory();
  }

  /** What avro-confluent does once the registry has given it the writer's schema. */
  private static DeserializationSchema<RowData> resolving(RowType type, Schema writer) {
    SchemaCoder.SchemaCoderProvider provider =
        () ->
            new SchemaCoder() {
              @Override
              public Schema readSchema(InputStream in) {
                return writer;
              }

              @Override
              public void writeSchema(Schema schema, OutputStream out) {}
            };
    return new AvroRowDataDeserializationSchema(
        new RegistryAvroDeserializationSchema<GenericRecord>(
            GenericRecord.class, AvroSchemaConverter.convertToSchema(type), provider),
        AvroToRowDataConverters.createRowConverter(type),
        InternalTypeInfo.of(type));
  }

  private static byte[] binary(byte[] json, Schema schema) throws Exception {
    Object datum =
        new GenericDatumReader<>(schema)
            .read(null, DecoderFactory.get().jsonDecoder(schema, new String(json, StandardCharsets.UTF_8)));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder out = EncoderFactory.get().binaryEncoder(bytes, null);
    new GenericDatumWriter<>(schema).write(datum, out);
    out.flush();
    return bytes.toByteArray();
  }

  private static JsonRowDataSerializationSchema json(RowType type) {
    return new JsonRowDataSerializationSchema(
        type, TimestampFormat.SQL, JsonFormatOptions.MapNullKeyMode.FAIL, "null", false, false);
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

  private static String innermost(Throwable t) {
    Throwable cause = t;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String text = cause.getClass().getSimpleName() + ": " + cause.getMessage();
    return text.length() <= 120 ? text : text.substring(0, 120);
  }
}
