package io.streamtable.codec.changeevents;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Texts;
import io.streamtable.codec.json.JsonReaders;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Decodes GoldenGate's change events, as Flink's ogg-json format does. */
public final class OggJsonDecoder extends JsonEventDecoder {
  /** A date, and a time behind a blank or a T. Without a time, it is midnight. */
  private static final DateTimeFormatter TIME =
      new DateTimeFormatterBuilder()
          .appendPattern("uuuu-M-d[' 'H:m:s]['T'H:m:s]")
          .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
          .parseDefaulting(ChronoField.HOUR_OF_DAY, 0)
          .toFormatter();

  private transient EventMetadata metadata;
  private transient int before;
  private transient int after;
  private transient int type;

  /** Parameters: those of {@link JsonEventDecoder}. */
  public OggJsonDecoder(String schemaDdl, Map<String, String> parameters) {
    super("ogg-json", schemaDdl, parameters);
    prepare();
  }

  @Override
  List<GenericInternalRow> changes(GenericInternalRow event) throws DecodeException {
    String kind = JsonEnvelope.text(event, type, "op_type");
    ChangeRows changes = new ChangeRows(metadata.of(event));
    switch (kind) {
      case "I" -> changes.add(ChangeRows.INSERT, event.values()[after], "after");
      case "U" -> {
        changes.add(ChangeRows.UPDATE_BEFORE, event.values()[before], "before");
        changes.add(ChangeRows.UPDATE_AFTER, event.values()[after], "after");
      }
      case "D" -> changes.add(ChangeRows.DELETE, event.values()[before], "before");
      default ->
          throw new DecodeException("'op_type' is '" + Texts.shorten(kind) + "', not I, U or D");
    }
    return changes.rows();
  }

  @Override
  JsonEnvelope layOut(StructType row, JsonReaders readers, Map<String, String> parameters) {
    JsonEnvelope event = new JsonEnvelope(readers);
    before = event.field("before", row);
    after = event.field("after", row);
    type = event.field("op_type", DataTypes.StringType);
    metadata = new EventMetadata(parameters, key -> getter(key, event));
    return event;
  }

  private static EventMetadata.Getter getter(String key, JsonEnvelope event) {
    return switch (key) {
      case "table" -> EventMetadata.value(event.field(key, DataTypes.StringType));
      case "primary-keys" ->
          EventMetadata.value(
              event.field("primary_keys", DataTypes.createArrayType(DataTypes.StringType)));
      case "ingestion-timestamp" -> instant(event, "current_ts");
      case "event-timestamp" -> instant(event, "op_ts");
      default -> throw new IllegalArgumentException("ogg-json has no metadata " + key);
    };
  }

  private static EventMetadata.Getter instant(JsonEnvelope event, String name) {
    int position = event.field(name, DataTypes.StringType);
    return row -> {
      Object text = row.values()[position];
      return text == null ? null : (Object) instant(text.toString(), name);
    };
  }

  /**
   * Returns a time of UTC in microseconds. As in Flink, it has whole milliseconds, except for the
   * time of ingestion behind a blank.
   */
  private static long instant(String text, String name) throws DecodeException {
    boolean keepsMicros = name.equals("current_ts") && text.indexOf('T') < 0;
    try {
      LocalDateTime time =
          LocalDateTime.parse(text, TIME)
              .truncatedTo(keepsMicros ? ChronoUnit.MICROS : ChronoUnit.MILLIS);
      return DateTimeUtils.localDateTimeToMicros(time);
    } catch (DateTimeParseException e) {
      throw new DecodeException("'" + name + "' is '" + Texts.shorten(text) + "', not a time");
    }
  }
}
