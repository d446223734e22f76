package io.streamtable.kafka.read;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.streamtable.source.Positions;
import java.util.Map;
import java.util.TreeMap;

/**
 * The offsets of Spark's Kafka source, {"topic": {"0": 17}}, as positions in the splits
 * "topic:partition".
 */
final class KafkaOffsets {
  private static final ObjectMapper JSON = new ObjectMapper();

  private KafkaOffsets() {}

  static Positions parse(String json) {
    Map<String, Long> offsets = new TreeMap<>();
    try {
      for (Map.Entry<String, JsonNode> topic : JSON.readTree(json).properties()) {
        for (Map.Entry<String, JsonNode> partition : topic.getValue().properties()) {
          String split = topic.getKey() + ":" + partition.getKey();
          offsets.put(split, partition.getValue().asLong());
        }
      }
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("no offsets: " + json, e);
    }
    return new Positions(offsets);
  }

  static String json(Positions positions) {
    ObjectNode topics = JSON.createObjectNode();
    positions
        .offsets()
        .forEach(
            (split, offset) -> {
              int colon = split.lastIndexOf(':');
              String topic = split.substring(0, colon);
              ObjectNode own = (ObjectNode) topics.get(topic);
              (own == null ? topics.putObject(topic) : own)
                  .put(split.substring(colon + 1), offset);
            });
    return topics.toString();
  }
}
