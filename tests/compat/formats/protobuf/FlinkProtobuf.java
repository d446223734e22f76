import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Scanner;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.JsonFormatOptions;
import org.apache.flink.formats.json.JsonRowDataSerializationSchema;
import org.apache.flink.formats.protobuf.PbFormatConfig;
import org.apache.flink.formats.protobuf.deserialize.PbRowDataDeserializationSchema;
import org.apache.flink.formats.protobuf.serialize.PbRowDataSerializationSchema;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;

/** What a real Flink makes of each protobuf record. Started by record.py; no part of the product. */
public final class FlinkProtobuf {
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
        answer.put("error", cause.getClass().getSimpleName() + ": " + cause.getMessage());
      }
      System.out.println(MAPPER.writeValueAsString(test));
    }
  }

  private static void answer(ObjectNode test, ObjectNode answer) throws Exception {
    ClassLoader loader = FlinkProtobuf.class.getClassLoader();
    RowType type = (RowType) LogicalTypeParser.parse(test.get("type").asText(), loader);
    PbFormatConfig config =
        new PbFormatConfig(
            test.get("message").asText(),
            false,
            test.get("options").path("read-default-values").asText().equals("true"),
            "");
    PbRowDataDeserializationSchema decoder =
        new PbRowDataDeserializationSchema(type, InternalTypeInfo.of(type), config);
    decoder.open(null);
    RowData row = decoder.deserialize(Base64.getDecoder().decode(test.get("value").asText()));
    JsonRowDataSerializationSchema json =
        new JsonRowDataSerializationSchema(
            type, TimestampFormat.SQL, JsonFormatOptions.MapNullKeyMode.FAIL, "null", false, false);
    json.open(null);
    answer.put("json", new String(json.serialize(row), StandardCharsets.UTF_8));
    PbRowDataSerializationSchema encoder = new PbRowDataSerializationSchema(type, config);
    encoder.open(null);
    answer.put("bytes", Base64.getEncoder().encodeToString(encoder.serialize(row)));
  }
}
