package io.streamtable.kafka;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The next offsets of partitions, as Spark's Kafka source writes them: {"topic": {"0": 17}}. */
record Positions(Map<String, Long> offsets) {
  private static final ObjectMapper JSON = new ObjectMapper();

  static Positions of(String json) {
    Map<String, Long> offsets = new TreeMap<>();
    try {
      for (Map.Entry<String, JsonNode> topic : JSON.readTree(json).properties()) {
        for (Map.Entry<String, JsonNode> partition : topic.getValue().properties()) {
          String name = topic.getKey() + ":" + partition.getKey();
          offsets.put(name, partition.getValue().asLong());
        }
      }
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("no offsets: " + json, e);
    }
    return new Positions(offsets);
  }

  /** "topic:partition" of each. */
  Set<String> partitions() {
    return offsets.keySet();
  }

  long at(String partition, long otherwise) {
    return offsets.getOrDefault(partition, otherwise);
  }

  /** These, but no further than limits, and never before a beginning. */
  Positions capped(Positions begin, Map<String, Long> limits) {
    Map<String, Long> capped = new TreeMap<>();
    offsets.forEach(
        (partition, end) -> {
          long limit = limits.getOrDefault(partition, Long.MAX_VALUE);
          capped.put(partition, Math.max(begin.at(partition, 0), Math.min(end, limit)));
        });
    return new Positions(capped);
  }

  String json() {
    ObjectNode topics = JSON.createObjectNode();
    offsets.forEach(
        (name, offset) -> {
          int colon = name.lastIndexOf(':');
          String topic = name.substring(0, colon);
          ObjectNode own = (ObjectNode) topics.get(topic);
          (own == null ? topics.putObject(topic) : own).put(name.substring(colon + 1), offset);
        });
    return topics.toString();
  }
}
