package io.streamtable.codec.avro;

import io.streamtable.codec.Encoder;
import io.streamtable.codec.registry.SchemaHeader;
import io.streamtable.codec.registry.SchemaRegistry;
import io.streamtable.codec.registry.SchemaText;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Encodes Avro records after a zero byte and the id of their schema in the registry. The
 * constructor registers the schema, on the driver before a job starts; tasks have the id and do not
 * access the registry.
 */
public final class AvroConfluentEncoder implements Encoder {
  private static final String SUBJECT = "subject";

  private final AvroEncoder records;

  /**
   * Parameters: schema as JSON; registered, whether it comes from the registry (true|false); subject;
   * the other parameters are the registry's settings.
   */
  public AvroConfluentEncoder(String schemaDdl, Map<String, String> parameters) {
    int id = registry(parameters).register(parameters.get(SUBJECT), avro(parameters));
    Map<String, String> ofRecords = new HashMap<>(parameters);
    ofRecords.keySet().retainAll(AvroSchemas.PARAMETERS);
    records = new AvroEncoder(schemaDdl, ofRecords, SchemaHeader.of(id));
  }

  /** Throws the registry errors that the constructor would throw, and registers nothing. */
  public static void check(Map<String, String> parameters) {
    registry(parameters).check(parameters.get(SUBJECT), avro(parameters));
  }

  private static SchemaRegistry registry(Map<String, String> parameters) {
    Map<String, String> settings = new HashMap<>(parameters);
    settings.keySet().removeAll(AvroSchemas.PARAMETERS);
    settings.remove(SUBJECT);
    return SchemaRegistry.of(settings);
  }

  /** Returns the schema in Avro's own spelling. */
  private static SchemaText avro(Map<String, String> parameters) {
    return new SchemaText(SchemaText.AVRO, AvroSchemas.of(parameters).toString());
  }

  @Override
  public byte[] encode(InternalRow row) {
    return records.encode(row);
  }
}
