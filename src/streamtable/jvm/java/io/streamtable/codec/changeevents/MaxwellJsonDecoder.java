package io.streamtable.codec.changeevents;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Texts;
import io.streamtable.codec.json.JsonReaders;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Decodes Maxwell's change events, as Flink's maxwell-json format does. */
public final class MaxwellJsonDecoder extends JsonEventDecoder {
  private transient EventMetadata metadata;
  private transient int data;
  private transient int old;
  private transient int type;

  /** Parameters: those of {@link JsonEventDecoder}. */
  public MaxwellJsonDecoder(String schemaDdl, Map<String, String> parameters) {
    super("maxwell-json", schemaDdl, parameters);
    prepare();
  }

  @Override
  List<GenericInternalRow> changes(GenericInternalRow event) throws DecodeException {
    String kind = JsonEnvelope.text(event, type, "type");
    Object row = event.values()[data];
    ChangeRows changes = new ChangeRows(metadata.of(event));
    switch (kind) {
      case "insert" -> changes.add(ChangeRows.INSERT, row, "data");
      case "update" -> changes.addUpdate(event.values()[old], row, "old", "data");
      case "delete" -> changes.add(ChangeRows.DELETE, row, "data");
      default ->
          throw new DecodeException(
              "'type' is '" + Texts.shorten(kind) + "', not insert, update or delete");
    }
    return changes.rows();
  }

  @Override
  JsonEnvelope layOut(StructType row, JsonReaders readers, Map<String, String> parameters) {
    JsonEnvelope event = new JsonEnvelope(readers);
    data = event.field("data", row);
    old = event.field("old", readers.partialRow(row));
    type = event.field("type", DataTypes.StringType);
    metadata = new EventMetadata(parameters, key -> getter(key, event));
    return event;
  }

  private static EventMetadata.Getter getter(String key, JsonEnvelope event) {
    return switch (key) {
      case "database", "table" -> EventMetadata.value(event.field(key, DataTypes.StringType));
      case "primary-key-columns" ->
          EventMetadata.value(
              event.field(
                  "primary_key_columns", DataTypes.createArrayType(DataTypes.StringType)));
      case "ingestion-timestamp" ->
          EventMetadata.instant(event.field("ts", DataTypes.LongType), EventMetadata.SECONDS);
      default -> throw new IllegalArgumentException("maxwell-json has no metadata " + key);
    };
  }
}
