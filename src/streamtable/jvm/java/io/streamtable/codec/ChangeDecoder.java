package io.streamtable.codec;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Bytes of one record's value to the changes that it holds; what {@link Decoder} says of
 * constructors and laziness holds here too.
 */
public interface ChangeDecoder extends Serializable {
  /**
   * Rows of (row kind, columns..., metadata...) in the order in which they happened, the two rows
   * of an update next to each other. Empty where the record changes nothing of this table, null
   * where the format says that these bytes hold nothing at all.
   */
  List<GenericInternalRow> decode(byte[] bytes) throws DecodeException;

  /** The format's name, as messages say it. */
  String format();

  /** Fields that the last call set to null because they did not parse and the user allows it. */
  int fieldErrors();
}
