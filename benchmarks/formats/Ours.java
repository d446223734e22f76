import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.streamtable.codec.ChangeDecoder;
import io.streamtable.codec.Codecs;
import io.streamtable.codec.Decoder;
import io.streamtable.codec.Encoder;
import java.io.DataOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/** Measures our codecs, called as in Spark's generated code: record bytes to row, and back. */
public final class Ours {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    double seconds = Double.parseDouble(args[1]);
    for (JsonNode test : MAPPER.readTree(Path.of(args[0]).toFile())) {
      String name = test.get("format").asText();
      if (args[2].equals("write")) {
        write(test);
      } else {
        run(name, test, seconds);
      }
    }
  }

  /** Encodes JSON rows as records of a format. */
  private static void write(JsonNode test) throws Exception {
    if (!test.has("from")) {
      return;
    }
    Decoder rows = (Decoder) codec("decoder", test.get("from"));
    Encoder encoder = (Encoder) codec("encoder", test.get("encoder"));
    try (DataOutputStream out =
        new DataOutputStream(Files.newOutputStream(Path.of(test.get("records").asText())))) {
      for (byte[] row : Records.read(Path.of(test.get("rows").asText()))) {
        byte[] record = encoder.encode(rows.decode(row));
        out.writeInt(record.length);
        out.write(record);
      }
    }
  }

  private static void run(String name, JsonNode test, double seconds) throws Exception {
    List<byte[]> records = Records.read(Path.of(test.get("records").asText()));
    Encoder encoder = (Encoder) codec("encoder", test.get("encoder"));
    List<InternalRow> rows = new ArrayList<>();
    if (test.get("changes").asBoolean()) {
      ChangeDecoder decoder = (ChangeDecoder) codec("changeDecoder", test.get("decoder"));
      for (byte[] record : records) {
        decoder.decode(record).forEach(change -> rows.add(ofChange(change)));
      }
      Records.measure(
          name, "decode", records.size(), seconds, i -> decoder.decode(records.get(i)).size());
    } else {
      Decoder decoder = (Decoder) codec("decoder", test.get("decoder"));
      for (byte[] record : records) {
        rows.add(decoder.decode(record));
      }
      Records.measure(
          name, "decode", records.size(), seconds, i -> decoder.decode(records.get(i)).numFields());
    }
    Records.measure(
        name, "encode", rows.size(), seconds, i -> encoder.encode(rows.get(i)).length);
  }

  /** Converts a change to the input of a CDC encoder: the row kind, then the row. */
  private static InternalRow ofChange(GenericInternalRow change) {
    Object[] columns = new Object[change.numFields() - 1];
    System.arraycopy(change.values(), 1, columns, 0, columns.length);
    return new GenericInternalRow(
        new Object[] {change.values()[0], new GenericInternalRow(columns)});
  }

  private static Object codec(String kind, JsonNode codec) throws Exception {
    Map<String, String> parameters = MAPPER.convertValue(codec.get("parameters"), Map.class);
    String name = codec.get("class").asText();
    String ddl = codec.get("ddl").asText();
    return switch (kind) {
      case "decoder" -> Codecs.decoder(name, ddl, parameters);
      case "encoder" -> Codecs.encoder(name, ddl, parameters);
      default -> Codecs.changeDecoder(name, ddl, parameters);
    };
  }
}
