package io.streamtable.codec;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Bytes of one record's key or value to a row, in Catalyst's internal values, because the row goes
 * straight into Spark's own expressions.
 *
 * <p>An implementation has a constructor (String schemaDdl, Map&lt;String, String&gt; parameters) and
 * builds what it needs per task lazily: every task deserializes a decoder of its own.
 */
public interface Decoder extends Serializable {
  /** The row, or null where the format says that these bytes hold none. */
  GenericInternalRow decode(byte[] bytes) throws DecodeException;

  /** The format's name, as messages say it. */
  String format();

  /** Fields that the last call set to null because they did not parse and the user allows it. */
  default int fieldErrors() {
    return 0;
  }
}
