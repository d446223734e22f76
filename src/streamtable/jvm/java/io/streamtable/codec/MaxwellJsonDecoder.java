package io.streamtable.codec;

import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Maxwell's change events, read as Flink's maxwell-json format reads them. */
public final class MaxwellJsonDecoder implements ChangeDecoder {
  private final String schemaDdl;
  private final Map<String, String> parameters;
  private transient JsonReaders readers;
  private transient JsonRowReader root;
  private transient JsonDocument document;
  private transient EventMetadata metadata;
  private transient int data;
  private transient int old;
  private transient int type;

  /** Parameters: those of {@link JsonReaders#of}, metadata (keys, blanks between). */
  public MaxwellJsonDecoder(String schemaDdl, Map<String, String> parameters) {
    this.schemaDdl = schemaDdl;
    this.parameters = parameters;
    prepare(); // a type that json cannot hold shows on the driver, not in a task
  }

  @Override
  public String format() {
    return "maxwell-json";
  }

  @Override
  public int fieldErrors() {
    return readers.takeErrors();
  }

  @Override
  public List<GenericInternalRow> decode(byte[] bytes) throws DecodeException {
    if (bytes.length == 0) {
      return null;
    }
    if (root == null) {
      prepare();
    }
    readers.takeErrors();
    GenericInternalRow event = document.read(bytes, root);
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

  private void prepare() {
    readers = JsonReaders.of(parameters);
    StructType row = Schemas.of(schemaDdl);
    JsonEnvelope event = new JsonEnvelope(readers);
    data = event.field("data", row);
    old = event.field("old", readers.partialRow(row));
    type = event.field("type", DataTypes.StringType);
    metadata = new EventMetadata(parameters, key -> getter(key, event));
    root = event.reader();
    document = new JsonDocument();
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
