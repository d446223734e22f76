package io.streamtable.codec.changeevents;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.json.JsonReaders;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Decodes Debezium's change events in JSON, as Flink's debezium-json format does. */
public final class DebeziumJsonDecoder extends JsonEventDecoder {
  private static final DataType SOURCE =
      DataTypes.createMapType(DataTypes.StringType, DataTypes.StringType);

  private transient EventMetadata metadata;
  private transient int payload;
  private transient int before;
  private transient int after;
  private transient int op;

  /** Parameters: those of {@link JsonEventDecoder}, schemaInclude (true|false). */
  public DebeziumJsonDecoder(String schemaDdl, Map<String, String> parameters) {
    super("debezium-json", schemaDdl, parameters);
    prepare();
  }

  @Override
  List<GenericInternalRow> changes(GenericInternalRow whole) throws DecodeException {
    GenericInternalRow event = event(whole);
    if (event == null) {
      throw new DecodeException("there is no 'payload'; 'schema-include' expects one");
    }
    Object[] fields = event.values();
    if (fields[op] == null && payload < 0 && fields[before] == null && fields[after] == null) {
      throw new DecodeException(
          "'op' is missing; events with their schema need 'schema-include' = 'true'");
    }
    String kind = JsonEnvelope.text(event, op, "op");
    return DebeziumEvent.changes(fields[before], fields[after], kind, metadata.of(whole));
  }

  @Override
  JsonEnvelope layOut(StructType type, JsonReaders readers, Map<String, String> parameters) {
    JsonEnvelope event = new JsonEnvelope(readers);
    before = event.field("before", type);
    after = event.field("after", type);
    op = event.field("op", DataTypes.StringType);
    boolean withSchema = Boolean.parseBoolean(parameters.get("schemaInclude"));
    JsonEnvelope whole = withSchema ? new JsonEnvelope(readers) : event;
    metadata =
        new EventMetadata(
            parameters,
            key ->
                key.equals("schema")
                    ? EventMetadata.value(whole.field("schema", DataTypes.StringType))
                    : inEvent(getter(key, event)));
    payload = withSchema ? whole.field("payload", event.nested()) : -1;
    return whole;
  }

  private EventMetadata.Getter inEvent(EventMetadata.Getter getter) {
    return whole -> getter.get(event(whole));
  }

  private GenericInternalRow event(GenericInternalRow whole) {
    return payload < 0 ? whole : (GenericInternalRow) whole.values()[payload];
  }

  private static EventMetadata.Getter getter(String key, JsonEnvelope event) {
    if (key.equals("ingestion-timestamp")) {
      return EventMetadata.instant(event.field("ts_ms", DataTypes.LongType), EventMetadata.MILLIS);
    }
    int source = event.field("source", SOURCE);
    return switch (key) {
      case "source.properties" -> EventMetadata.value(source);
      case "source.timestamp" -> row -> instant(property(row, source, "ts_ms"));
      case "source.database" -> row -> property(row, source, "db");
      case "source.schema" -> row -> property(row, source, "schema");
      case "source.table" -> row -> property(row, source, "table");
      default -> throw new IllegalArgumentException("debezium-json has no metadata " + key);
    };
  }

  private static Long instant(UTF8String text) throws DecodeException {
    try {
      Long millis = text == null ? null : Long.valueOf(text.toString());
      return EventMetadata.micros(millis, EventMetadata.MILLIS);
    } catch (NumberFormatException e) {
      throw new DecodeException("'source.ts_ms' is not a time in milliseconds");
    }
  }

  private static UTF8String property(GenericInternalRow event, int source, String name) {
    MapData properties = (MapData) event.values()[source];
    if (properties == null) {
      return null;
    }
    UTF8String wanted = UTF8String.fromString(name);
    for (int i = 0; i < properties.numElements(); i++) {
      if (properties.keyArray().getUTF8String(i).equals(wanted)) {
        boolean isNull = properties.valueArray().isNullAt(i);
        return isNull ? null : properties.valueArray().getUTF8String(i);
      }
    }
    return null;
  }
}
