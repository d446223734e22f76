package io.streamtable.codec.avro;

import io.streamtable.codec.Encoder;
import io.streamtable.codec.registry.SchemaHeader;
import io.streamtable.codec.registry.SchemaRegistry;
import io.streamtable.codec.registry.SchemaText;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Encodes Avro records after a zero byte and the id of their schema in the registry. The
 * constructor registers the schema, on the driver before a job starts; tasks have the id and do not
 * access the registry.
 */
public final class AvroConfluentEncoder implements Encoder {
  private final AvroEncoder records;

  /** Parameters: schema as JSON, subject; the other parameters are the registry's settings. */
  public AvroConfluentEncoder(String schemaDdl, Map<String, String> parameters) {
    Map<String, String> registry = new HashMap<>(parameters);
    String text = registry.remove("schema");
    String subject = registry.remove("subject");
    int id = SchemaRegistry.of(registry).register(subject, avro(text));
    records = new AvroEncoder(schemaDdl, Map.of("schema", text), SchemaHeader.of(id));
  }

  /** Throws the registry errors that the constructor would throw, and registers nothing. */
  public static void check(Map<String, String> parameters) {
    Map<String, String> registry = new HashMap<>(parameters);
    SchemaText schema = avro(registry.remove("schema"));
    String subject = registry.remove("subject");
    SchemaRegistry.of(registry).check(subject, schema);
  }

  /** Returns the schema in Avro's own spelling. */
  private static SchemaText avro(String text) {
    return new SchemaText(SchemaText.AVRO, new Schema.Parser().parse(text).toString());
  }

  @Override
  public byte[] encode(InternalRow row) {
    return records.encode(row);
  }
}
