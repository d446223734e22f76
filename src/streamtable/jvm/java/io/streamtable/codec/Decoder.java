package io.streamtable.codec;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Decodes the bytes of one record's key or value into a row. The row has Catalyst's internal
 * values, because Spark's own expressions read it directly.
 *
 * <p>An implementation has a constructor (String schemaDdl, Map&lt;String, String&gt; parameters)
 * and builds its task state lazily, because every task deserializes its own decoder.
 */
public interface Decoder extends Serializable {
  /** Returns the row, or null if the format defines these bytes as no row. */
  GenericInternalRow decode(byte[] bytes) throws DecodeException;

  /** Returns the row of a null key or value, or null if the format defines none. */
  default GenericInternalRow ofNull() {
    return null;
  }

  /** Returns the format's name for messages. */
  String format();

  /**
   * Returns how many fields the last call set to null because they could not be parsed and the user
   * allows this.
   */
  default int fieldErrors() {
    return 0;
  }
}
