import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;
import org.apache.flink.connector.file.table.DefaultPartTimeExtractor;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/** Answers each case with the time that Flink extracts from the partition; null for an error. */
public class PartitionTimes {
  public static void main(String[] args) throws Exception {
    ObjectMapper mapper = new ObjectMapper();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      ObjectNode found = (ObjectNode) mapper.readTree(line);
      try {
        DefaultPartTimeExtractor extractor =
            new DefaultPartTimeExtractor(text(found, "pattern"), text(found, "formatter"));
        List<String> values = List.of(found.get("values").asText().split(",", -1));
        List<String> keys = List.of(found.get("keys").asText().split(","));
        found.put("time", extractor.extract(keys, values).toString());
      } catch (Exception e) {
        found.putNull("time");
      }
      System.out.println(found);
    }
  }

  private static String text(JsonNode from, String name) {
    return from.get(name).isNull() ? null : from.get(name).asText();
  }
}
