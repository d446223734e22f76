package io.streamtable.codec.csv;

import io.streamtable.codec.Encoder;
import io.streamtable.codec.Schemas;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Encodes one line of CSV per row, without a line end, byte for byte as Flink's csv format does.
 */
public final class CsvEncoder implements Encoder {
  private final String schemaDdl;
  private final CsvDialect dialect;
  private transient CsvWriters.RowWriter row;
  private transient StringBuilder out;

  /** Parameters: those of {@link CsvDialect}. */
  public CsvEncoder(String schemaDdl, Map<String, String> parameters) {
    this.schemaDdl = schemaDdl;
    dialect = CsvDialect.of(parameters);
    prepare(); // a type that CSV does not support fails on the driver, not in a task
  }

  @Override
  public byte[] encode(InternalRow value) {
    if (row == null) {
      prepare();
    }
    out.setLength(0);
    row.write(value, out);
    return out.toString().getBytes(StandardCharsets.UTF_8);
  }

  private void prepare() {
    row = new CsvWriters(dialect).row(Schemas.of(schemaDdl));
    out = new StringBuilder();
  }
}
