package io.streamtable.codec.changeevents;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Texts;
import io.streamtable.codec.json.JsonDocument;
import io.streamtable.codec.json.JsonReaders;
import io.streamtable.codec.json.JsonRowReader;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Decodes Canal's change events in JSON, as Flink's canal-json format does. */
public final class CanalJsonDecoder extends JsonEventDecoder {
  private static final Object[] NONE = {};

  private transient JsonRowReader origin;
  private transient EventMetadata metadata;
  private transient Pattern databases;
  private transient Pattern tables;
  private transient int data;
  private transient int old;
  private transient int type;

  /**
   * Parameters: those of {@link JsonEventDecoder}, databaseInclude and tableInclude (regular
   * expressions; absent to include all).
   */
  public CanalJsonDecoder(String schemaDdl, Map<String, String> parameters) {
    super("canal-json", schemaDdl, parameters);
    prepare();
  }

  @Override
  List<GenericInternalRow> changes(GenericInternalRow event) throws DecodeException {
    String kind = JsonEnvelope.text(event, type, "type");
    ChangeRows changes = new ChangeRows(metadata.of(event));
    switch (kind) {
      case "INSERT" -> addAll(changes, ChangeRows.INSERT, event);
      case "UPDATE" -> addUpdates(changes, event);
      case "DELETE" -> addAll(changes, ChangeRows.DELETE, event);
      case "CREATE" -> {} // a table was created: no changes
      default ->
          throw new DecodeException(
              "'type' is '" + Texts.shorten(kind) + "', not INSERT, UPDATE, DELETE or CREATE");
    }
    return changes.rows();
  }

  /** Reads database and table in a separate pass, before any row. */
  @Override
  boolean isOfTable(byte[] bytes, JsonDocument document) throws DecodeException {
    if (databases == null && tables == null) {
      return true;
    }
    GenericInternalRow event = document.read(bytes, origin);
    return matches(databases, event, 0, "database") && matches(tables, event, 1, "table");
  }

  private static boolean matches(Pattern wanted, GenericInternalRow event, int at, String name)
      throws DecodeException {
    return wanted == null || wanted.matcher(JsonEnvelope.text(event, at, name)).matches();
  }

  private void addAll(ChangeRows changes, byte kind, GenericInternalRow event)
      throws DecodeException {
    for (Object row : rows(event, data, "data")) {
      changes.add(kind, row, "data");
    }
  }

  private void addUpdates(ChangeRows changes, GenericInternalRow event) throws DecodeException {
    Object[] now = rows(event, data, "data");
    Object[] changed = now.length == 0 ? NONE : rows(event, old, "old");
    if (changed.length < now.length) {
      throw new DecodeException("'old' has fewer rows than 'data'");
    }
    for (int i = 0; i < now.length; i++) {
      changes.addUpdate(changed[i], now[i], "old", "data");
    }
  }

  private static Object[] rows(GenericInternalRow event, int position, String name)
      throws DecodeException {
    Object found = event.values()[position];
    if (found == null) {
      throw new DecodeException("'" + name + "' is missing");
    }
    return ((GenericArrayData) found).array();
  }

  @Override
  JsonEnvelope layOut(StructType row, JsonReaders readers, Map<String, String> parameters) {
    JsonEnvelope event = new JsonEnvelope(readers);
    data = event.field("data", DataTypes.createArrayType(row));
    old = event.field("old", readers.arrayOf(readers.partialRow(row)));
    type = event.field("type", DataTypes.StringType);
    metadata = new EventMetadata(parameters, key -> getter(key, event));
    JsonEnvelope names = new JsonEnvelope(readers);
    names.field("database", DataTypes.StringType);
    names.field("table", DataTypes.StringType);
    origin = names.reader();
    databases = pattern(parameters.get("databaseInclude"));
    tables = pattern(parameters.get("tableInclude"));
    return event;
  }

  private static Pattern pattern(String text) {
    return text == null ? null : Pattern.compile(text);
  }

  private static EventMetadata.Getter getter(String key, JsonEnvelope event) {
    return switch (key) {
      case "database", "table" -> EventMetadata.value(event.field(key, DataTypes.StringType));
      case "sql-type" ->
          EventMetadata.value(
              event.field(
                  "sqlType",
                  DataTypes.createMapType(DataTypes.StringType, DataTypes.IntegerType)));
      case "pk-names" ->
          EventMetadata.value(
              event.field("pkNames", DataTypes.createArrayType(DataTypes.StringType)));
      case "ingestion-timestamp" ->
          EventMetadata.instant(event.field("ts", DataTypes.LongType), EventMetadata.MILLIS);
      case "event-timestamp" ->
          EventMetadata.instant(event.field("es", DataTypes.LongType), EventMetadata.MILLIS);
      default -> throw new IllegalArgumentException("canal-json has no metadata " + key);
    };
  }
}
