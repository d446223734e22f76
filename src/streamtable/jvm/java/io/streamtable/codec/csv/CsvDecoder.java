package io.streamtable.codec.csv;

import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Decoder;
import io.streamtable.codec.Schemas;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;

/** Decodes one line of CSV per record, as Flink's csv format does. */
public final class CsvDecoder implements Decoder {
  private static final char BYTE_ORDER_MARK = '\ufeff';

  private final String schemaDdl;
  private final CsvDialect dialect;
  private transient CsvReaders readers;
  private transient CsvReaders.RowReader row;
  private transient List<String> fields;
  private transient int columns;

  /** Parameters: those of {@link CsvDialect}. */
  public CsvDecoder(String schemaDdl, Map<String, String> parameters) {
    this.schemaDdl = schemaDdl;
    dialect = CsvDialect.of(parameters);
    prepare(); // a type that CSV does not support fails on the driver, not in a task
  }

  @Override
  public String format() {
    return "csv";
  }

  @Override
  public int fieldErrors() {
    return readers.takeErrors();
  }

  @Override
  public GenericInternalRow decode(byte[] bytes) throws DecodeException {
    if (row == null) {
      prepare();
    }
    readers.takeErrors(); // clears the remains of a failed record
    CsvLine.split(dialect, text(bytes), fields);
    if (fields.isEmpty()) {
      throw new DecodeException("there is no line");
    }
    // One delimiter at the end of the line is accepted, as in Jackson.
    int last = fields.size() - 1;
    if (last > columns || (last == columns && !fields.get(last).isEmpty())) {
      throw new DecodeException(
          fields.size() + " fields, where there are " + columns + " columns");
    }
    return row.read(fields);
  }

  private static String text(byte[] bytes) throws DecodeException {
    try {
      String text =
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      return !text.isEmpty() && text.charAt(0) == BYTE_ORDER_MARK ? text.substring(1) : text;
    } catch (CharacterCodingException e) {
      throw new DecodeException("invalid UTF-8");
    }
  }

  private void prepare() {
    StructType type = Schemas.of(schemaDdl);
    readers = new CsvReaders(dialect);
    row = readers.row(type);
    columns = type.size();
    fields = new ArrayList<>();
  }
}
