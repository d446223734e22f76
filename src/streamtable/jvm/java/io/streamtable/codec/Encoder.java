package io.streamtable.codec;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * A row to the bytes of one record's key or value; the counterpart of {@link Decoder}, with the same
 * constructor and the same lazily built state.
 */
public interface Encoder extends Serializable {
  /** The bytes; the row is read only during the call. */
  byte[] encode(InternalRow row);
}
