package io.streamtable.codec.changeevents;

import io.streamtable.codec.ChangeDecoder;
import io.streamtable.codec.DecodeException;
import io.streamtable.codec.avro.AvroConfluentDecoder;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Decodes Debezium's change events in Avro with a schema registry, as Flink's
 * debezium-avro-confluent format does.
 */
public final class DebeziumAvroDecoder implements ChangeDecoder {
  private static final Object[] NO_METADATA = {};

  private final AvroConfluentDecoder events;

  /** Parameters: those of {@link AvroConfluentDecoder}, with the schema of events. */
  public DebeziumAvroDecoder(String schemaDdl, Map<String, String> parameters)
      throws DecodeException {
    events = new AvroConfluentDecoder(DebeziumEvent.ddl(schemaDdl), parameters);
  }

  @Override
  public String format() {
    return "debezium-avro-confluent";
  }

  @Override
  public int fieldErrors() {
    return 0;
  }

  @Override
  public List<GenericInternalRow> decode(byte[] bytes) throws DecodeException {
    if (bytes.length == 0) {
      return null;
    }
    GenericInternalRow event = events.decode(bytes);
    if (event == null) {
      throw new DecodeException("the event is null");
    }
    Object[] fields = event.values();
    if (fields[2] == null) {
      throw new DecodeException("'op' is missing");
    }
    return DebeziumEvent.changes(fields[0], fields[1], fields[2].toString(), NO_METADATA);
  }
}
