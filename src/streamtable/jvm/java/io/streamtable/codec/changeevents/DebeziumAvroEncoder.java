package io.streamtable.codec.changeevents;

import io.streamtable.codec.Encoder;
import io.streamtable.codec.Schemas;
import io.streamtable.codec.avro.AvroConfluentEncoder;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Encodes a changelog row as an event of Debezium in Avro, with the schema that Flink registers. +I
 * and +U become an insert, -U and -D a delete, so an update is two events.
 */
public final class DebeziumAvroEncoder implements Encoder {
  private final AvroConfluentEncoder events;
  private final int width;

  /** Parameters: those of {@link AvroConfluentEncoder}, with the schema of events. */
  public DebeziumAvroEncoder(String schemaDdl, Map<String, String> parameters) {
    events = new AvroConfluentEncoder(DebeziumEvent.ddl(schemaDdl), parameters);
    width = Schemas.of(schemaDdl).size();
  }

  /** Throws the registry errors that the constructor would throw, and registers nothing. */
  public static void check(Map<String, String> parameters) {
    AvroConfluentEncoder.check(parameters);
  }

  /** Encodes a struct of (row kind, struct of the columns). */
  @Override
  public byte[] encode(InternalRow change) {
    byte kind = change.getByte(0);
    boolean adds = kind == ChangeRows.INSERT || kind == ChangeRows.UPDATE_AFTER;
    return events.encode(DebeziumEvent.of(adds, change.getStruct(1, width)));
  }
}
