package io.streamtable.codec;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Decodes the bytes of one record's value into its changes. The rules of {@link Decoder} for
 * constructors and lazy state apply here too.
 */
public interface ChangeDecoder extends Serializable {
  /**
   * Returns rows of (row kind, columns..., metadata...) in the order of the changes; the two rows
   * of an update are next to each other. Returns an empty list if the record does not change this
   * table, and null if the format defines these bytes as no data.
   */
  List<GenericInternalRow> decode(byte[] bytes) throws DecodeException;

  /** Returns the format's name for messages. */
  String format();

  /**
   * Returns how many fields the last call set to null because they could not be parsed and the user
   * allows this.
   */
  int fieldErrors();
}
